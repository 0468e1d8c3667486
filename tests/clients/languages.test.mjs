// The pages in every language that the metadata names: the right one, in its direction, and no wider than a small phone.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { decide, dev, logIn, shoot, withBrowser } from './browser.mjs'

const small = { viewport: { width: 320, height: 640 } }
const metadata = await (await fetch(`${dev.issuer}/.well-known/openid-configuration`)).json()
const languages = metadata.ui_locales_supported

function authorize(more = {}) {
  const { client_id, redirect_uris } = dev.clients.web
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id,
    redirect_uri: redirect_uris[0],
    response_type: 'code',
    scope: 'openid profile email address phone groups offline_access',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    prompt: 'consent',
    ...more,
  })
  return `${metadata.authorization_endpoint}?${query}`
}

const spoken = (page) => page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])

/** No page scrolls sideways, and nothing in it is cut off. */
async function fits(page, what) {
  const wide = await page.evaluate(() => {
    const beyond = (e) => {
      const { left, right } = e.getBoundingClientRect()
      return right > innerWidth + 1 || left < -1
    }
    // Tabs scroll sideways by themselves.
    const all = [...document.querySelectorAll('body *:not(nav.tabs a):not(.unseen)')].filter((e) => beyond(e) || (e.tagName === 'BUTTON' && e.scrollWidth > e.clientWidth + 1))
    return { page: document.documentElement.scrollWidth, window: innerWidth, all: all.map((e) => e.outerHTML.slice(0, 120)) }
  })
  assert.ok(wide.page <= wide.window, `${what} scrolls sideways: ${JSON.stringify(wide)}`)
  assert.deepEqual(wide.all, [], `${what} is too wide`)
}

test('the metadata names sixteen languages', () => {
  assert.equal(languages.length, 16)
  assert.equal(languages[0], 'en')
})

for (const language of languages) {
  test(`the pages fit a small phone in ${language}`, () =>
    withBrowser(async (page) => {
      const see = async (what) => {
        assert.deepEqual(await spoken(page), [language, language === 'ar' ? 'rtl' : 'ltr'], what)
        await fits(page, `${what} in ${language}`)
        if (['de', 'ar', 'ja'].includes(language)) await shoot(page, `${language}-${what}`)
      }
      await page.goto(authorize({ ui_locales: `tlh ${language}` }))
      await see('login')
      // Mails and wrong guesses are counted, and few: two languages, one of each direction, have these pages.
      if (['de', 'ar'].includes(language)) {
        await page.fill('input[name=username]', dev.user.email)
        await decide(page, 'email')
        await page.waitForSelector('input[name=otp]')
        await see('code')
        await decide(page, 'password')
        await logIn(page, { username: dev.user.username, password: 'not the password' })
        await page.waitForSelector('[role=alert]')
        await see('wrong')
      }
      await logIn(page)
      await page.waitForSelector('button[name=decision][value=deny]')
      await see('consent')
      for (const path of ['account', 'device', 'account/recover', 'sign-up', 'nothing', 'interaction', 'logout']) {
        await page.goto(`${dev.issuer}/${path}?ui_locales=${language}`)
        await see(path.replace('/', '-'))
      }
    }, small))
}

test('the menu chooses, and the person goes on where they were', () =>
  withBrowser(async (page) => {
    await page.goto(authorize({ ui_locales: 'fr' }))
    assert.deepEqual(await spoken(page), ['fr', 'ltr'])
    // A script sends what was chosen, and has taken the button away.
    assert.equal(await page.isVisible('form.language button'), false)
    await page.selectOption('select[name=language]', 'ar')
    await page.waitForSelector('html[lang=ar]')
    assert.deepEqual(await spoken(page), ['ar', 'rtl'])
    await logIn(page)
    await page.waitForSelector('button[name=decision][value=deny]')
    assert.deepEqual(await spoken(page), ['ar', 'rtl'])
    await page.goto(authorize({ ui_locales: 'fr' }))
    assert.deepEqual(await spoken(page), ['ar', 'rtl'])
  }))

test('a browser is read to in the language that it asks for', () =>
  withBrowser(async (page) => {
    await page.goto(`${dev.issuer}/account`)
    assert.deepEqual(await spoken(page), ['uk', 'ltr'])
  }, { ...small, locale: 'uk-UA' }))

test('times are in the zone of the browser, as its region writes them, and in UTC without a script', async () => {
  const times = (options) =>
    withBrowser(async (page) => {
      await page.goto(`${dev.issuer}/account?ui_locales=de`)
      await logIn(page)
      await page.waitForSelector('time[datetime]', { state: 'attached' })
      return page.locator('time').evaluateAll((all) => all.map((time) => ({ iso: time.dateTime, text: time.title || time.textContent })))
    }, { locale: 'de-AT', ...options })
  const here = await times({ timezoneId: 'Asia/Kathmandu' })
  assert.ok(here.length > 0)
  for (const { iso, text } of here) {
    // A quarter of an hour beside every other zone, so nothing else looks like it.
    const at = new Date(Date.parse(iso) + 345 * 60_000)
    const clock = at.toISOString().slice(11, 16)
    assert.ok(text.includes(clock) && text.includes('GMT+5:45') && text.includes(String(at.getUTCFullYear())), `${text} of ${iso}`)
  }
  for (const { iso, text } of await times({ javaScriptEnabled: false })) {
    assert.ok(text.includes(iso.slice(11, 16)) && text.endsWith('UTC'), `${text} of ${iso}`)
  }
})
