// What a person meets, in a real browser: the e-mailed code, refusal, errors, the account page, logging out, a phone's screen.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as client from 'openid-client'
import { act, arrive, atAccount, decide, dev, logIn, shoot, turnTo, withBrowser } from './browser.mjs'
import { web } from './relying-party.mjs'

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }

/** The newest six-digit code that was mailed to the user, waiting for one that was not there before. */
async function mailedCode(seen) {
  for (let i = 0; i < 100; i += 1) {
    const fresh = readdirSync(dev.mail_dir).filter((file) => file.endsWith('.eml') && !seen.has(file))
    for (const file of fresh) {
      const code = /\b(\d{6})\b/.exec(readFileSync(join(dev.mail_dir, file), 'utf8').split(/\r?\n\r?\n/).slice(1).join('\n'))
      if (code) return code[1]
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('no mail with a code arrived')
}
const mails = () => new Set(readdirSync(dev.mail_dir))

test('the e-mailed code logs in', () =>
  web(({ redirect, request, finish }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      const before = mails()
      await page.fill('input[name=username]', dev.user.email)
      await decide(page, 'email')
      await page.waitForSelector('input[name=otp]')
      await shoot(page, 'one-time-code')
      await page.fill('input[name=otp]', await mailedCode(before))
      await decide(page, 'allow')
      const tokens = await finish(await arrive(page, redirect, 'consent'))
      assert.ok(tokens.claims().sub)
    }),
  ))

test('a wrong password says so and the right one still works', () =>
  web(({ redirect, request, finish }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      await logIn(page, { username: dev.user.username, password: 'not the password' })
      await page.waitForSelector('[role=alert]')
      await shoot(page, 'wrong-password')
      await logIn(page)
      await finish(await arrive(page, redirect))
    }),
  ))

test('Back leads to a page that answered a form without the form being sent again', () =>
  web(({ redirect, request, finish }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      await logIn(page, { username: dev.user.username, password: 'not the password' })
      await page.waitForSelector('[role=alert]')
      await page.goto(`${dev.issuer}/sign-up`)
      // Without the address that can be loaded again this is ERR_CACHE_MISS.
      await page.goBack()
      assert.match(page.url(), /\/interaction\?request=/)
      await page.reload()
      await logIn(page)
      await finish(await arrive(page, redirect))
    }),
  ))

test('cancel and deny answer the client with access_denied', () =>
  web(({ redirect, request }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      await decide(page, 'cancel')
      await page.waitForURL(`${redirect}**`)
      assert.equal(new URL(page.url()).searchParams.get('error'), 'access_denied')

      await page.goto(await request({ prompt: 'consent' }))
      await logIn(page)
      await page.waitForSelector('button[name=decision][value=deny]')
      await decide(page, 'deny')
      await page.waitForURL(`${redirect}**`)
      const back = new URL(page.url())
      assert.equal(back.searchParams.get('error'), 'access_denied')
      assert.equal(back.searchParams.get('state'), 'state-1')
    }),
  ))

test('form_post brings the code by a form', () =>
  web(({ redirect, request }) =>
    withBrowser(async (page) => {
      let body
      page.on('request', (r) => {
        if (r.url().startsWith(redirect) && r.method() === 'POST') body = new URLSearchParams(r.postData())
      })
      await page.goto(await request({ response_mode: 'form_post' }))
      await logIn(page)
      await arrive(page, redirect)
      assert.ok(body?.get('code'))
      assert.equal(body.get('iss'), dev.issuer)
    }),
  ))

test('a redirect that is not registered stays on an error page', () =>
  web(({ request }) =>
    withBrowser(async (page) => {
      await page.goto(await request({ redirect_uri: 'https://attacker.example/callback' }))
      const error = page.locator('main#error')
      assert.equal(await error.getAttribute('data-error'), 'invalid_request')
      await shoot(page, 'error')
    }),
  ))

test('the account page shows sessions and consents, and ends them', () =>
  web(({ redirect, request, finish }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      await logIn(page)
      await finish(await arrive(page, redirect))
      await page.goto(`${dev.issuer}/account`)
      await shoot(page, 'account')
      assert.match(await page.textContent('.who'), new RegExp(dev.user.username))
      // One part at a time, marked, and the menu says so to who hears it.
      const visible = () => page.locator('.parts > section').evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.id))
      assert.deepEqual(await visible(), ['profile'])
      await turnTo(page, 'devices')
      assert.deepEqual(await visible(), ['devices'])
      assert.equal(await page.locator('nav.tabs a[aria-current]').getAttribute('href'), '#devices')
      assert.match(await page.textContent('#devices'), /This browser\s*Active now/)
      await turnTo(page, 'applications')
      await shoot(page, 'account-applications')
      await act(page, page.locator('#applications li', { hasText: 'Example web application' }), 'withdraw')
      await page.waitForSelector('.notice[role=status]')
      assert.deepEqual(await visible(), ['applications'])
      await turnTo(page, 'main')
      assert.ok((await visible()).length >= 5)
      await page.click('.who button[value=end-session]')
      await page.waitForSelector('main#signed-out')
    }),
  ))

test('logging out ends the session and comes back to the client', () =>
  web(({ redirect, request, finish, config }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      await logIn(page)
      const tokens = await finish(await arrive(page, redirect))
      await page.goto(client.buildEndSessionUrl(config, { id_token_hint: tokens.id_token }).href)
      if (await page.locator('button[name=decision][value=allow]').count()) await decide(page, 'allow')
      await page.waitForSelector('main#signed-out')
      await shoot(page, 'signed-out')
      await page.goto(await request({ prompt: 'none' }))
      assert.equal(new URL(page.url()).searchParams.get('error'), 'login_required')
    }),
  ))

test('the pages fit a phone and load nothing from elsewhere', () =>
  web(({ redirect, request }) =>
    withBrowser(async (page) => {
      const elsewhere = []
      page.on('request', (r) => {
        if (!r.url().startsWith(dev.issuer) && !r.url().startsWith(redirect) && !r.url().startsWith('data:')) elsewhere.push(r.url())
      })
      const refusals = []
      page.on('console', (m) => m.type() === 'error' && refusals.push(m.text()))
      await page.goto(await request({ prompt: 'consent' }))
      const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)
      assert.ok(await fits(), 'the login page scrolls sideways')
      await shoot(page, 'phone-login')
      await logIn(page)
      await page.waitForSelector('button[name=decision][value=deny]')
      assert.ok(await fits(), 'the consent page scrolls sideways')
      await shoot(page, 'phone-consent')
      assert.deepEqual(elsewhere, [])
      assert.deepEqual(refusals.filter((r) => /Content Security Policy/i.test(r)), [])
    }, phone),
  ))

test('the pages work without JavaScript', () =>
  web(({ redirect, request, finish }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      await logIn(page)
      await finish(await arrive(page, redirect))
      // Tabs, forms behind their rows, and dialogs need none either.
      await page.goto(`${dev.issuer}/account`)
      assert.equal(await page.isVisible('#applications'), false)
      await turnTo(page, 'security')
      assert.equal(await page.isVisible('#new_password'), false)
      await page.click('#change-password > summary')
      assert.ok(await page.isVisible('#new_password'))
      await turnTo(page, 'applications')
      const row = page.locator('#applications li', { hasText: 'Example web application' })
      assert.equal(await row.locator('[role=dialog]').isVisible(), false)
      await act(page, row, 'withdraw')
      await page.waitForSelector('.notice[role=status]')
      assert.ok(await page.isVisible('#applications'))
      assert.equal(await row.count(), 0)
    }, { javaScriptEnabled: false }),
  ))

test('a password can be shown while it is typed, and is a password again when it is sent', () =>
  withBrowser(async (page) => {
    await page.goto(`${dev.issuer}/account`)
    const button = page.locator('button.show')
    await page.fill('input[name=password]', dev.user.password)
    assert.equal(await page.getAttribute('#password', 'type'), 'password')
    await button.click()
    assert.equal(await page.getAttribute('#password', 'type'), 'text')
    assert.equal(await button.getAttribute('aria-pressed'), 'true')
    await page.fill('input[name=username]', dev.user.username)
    await page.evaluate(() => {
      const field = document.querySelector('#password')
      field.form.addEventListener('submit', (event) => { window.sentAs = field.type; event.preventDefault() })
    })
    await decide(page, 'allow')
    assert.equal(await page.evaluate(() => window.sentAs), 'password')
    await page.goto(`${dev.issuer}/account`)
    await logIn(page)
    await atAccount(page)
  }))

test('a new password is judged while it is typed, and nothing is asked of the server', () =>
  withBrowser(async (page) => {
    await page.goto(`${dev.issuer}/account`)
    await logIn(page)
    await turnTo(page, 'security')
    await page.click('#change-password > summary')
    await page.waitForSelector('#new_password')
    // A bar that says nothing yet is not there.
    assert.equal(await page.isVisible('#password-strength'), false)
    const asked = []
    page.on('request', (request) => asked.push(request.url()))
    const said = async (text) => {
      await page.fill('#new_password', text)
      return [await page.textContent('#password-said'), await page.evaluate(() => document.querySelector('#password-strength').value)]
    }
    assert.deepEqual(await said('abc'), ['Too short yet.', 3])
    assert.match((await said('zzzzzzzzzzzz'))[0], /one character repeated/)
    assert.match((await said('something of ALICE here'))[0], /name/)
    assert.match((await said('runs on localhost, yes'))[0], /name of this server/)
    const [fits, length] = await said('four quiet brown kettles')
    assert.match(fits, /Long enough/)
    assert.ok(length > 12)
    assert.deepEqual(asked, [])
    // The list of common ones is the server's.
    await said('password1234')
    await page.fill('#password', dev.user.password)
    await decide(page, 'password')
    await page.waitForSelector('[role=alert]:not([hidden])')
    // In the form, which is open, of the part that it is in.
    const alert = page.locator('#change-password [role=alert]')
    assert.match(await alert.textContent(), /many people choose/)
    assert.ok(await alert.isVisible())
    assert.equal(await page.evaluate(() => document.activeElement.id), 'new_password')
  }))
