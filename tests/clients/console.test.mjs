// The console in a real browser: entered with a passkey and with a code, by axe-core in both colour schemes, at 320 pixels, by the keyboard, and without scripts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { addPerson, atAccount, decide, dev, logIn, shoot, signet, withBrowser } from './browser.mjs'
import { codeOf, now } from './totp.mjs'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const size = { width: 1280, height: 860 }
const at = (below) => `${dev.issuer}/console${below}`

/** An administrator of the test's own. */
function administrator(username) {
  const person = { username, password: 'a calm set of words' }
  signet(['user', 'add', username, '--admin', '--email', `${username}@example.test`, '--password-stdin'], `${person.password}\n`)
  return person
}

/** Logs in at the console; the first time an app is set up on the way. */
async function enter(page, person, below = '') {
  await page.goto(at(below))
  await logIn(page, person)
  // The secret is folded: the picture is what people scan.
  await page.waitForSelector('#totp-secret', { state: 'attached' })
  const secret = (await page.textContent('#totp-secret')).replace(/\s/g, '')
  await page.fill('input[name=totp]', codeOf(secret, now()))
  await decide(page, 'totp-add')
  await page.waitForLoadState()
  if (await page.locator('button[value=later]').count()) await decide(page, 'later')
  await page.waitForURL((url) => url.pathname.startsWith('/console'))
  return secret
}

async function check(page, name) {
  await page.setViewportSize(size)
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(axe)
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
    const told = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 4).map((node) => node.html.slice(0, 160)).join(' | ')}`)
    assert.deepEqual(told, [], `${name}, ${colorScheme}`)
    await shoot(page, `console-${name}-${colorScheme}`)
  }
  await page.setViewportSize({ width: 320, height: 640 })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.ok(wide <= 320, `${name}: ${wide} pixels wide at 320`)
  await shoot(page, `console-${name}-320`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(size)
}

test('every page of the console is accessible, and nothing of it breaks the policy', () =>
  withBrowser(async (page) => {
    const broken = []
    page.on('console', (message) => { if (message.type() === 'error') broken.push(message.text()) })
    page.on('pageerror', (error) => broken.push(error.message))
    await enter(page, administrator('console-axe'))
    // What answers 404 or 409 is an error of the network in the browser's eyes: only pages that answer are opened here.
    for (const [below, name] of [['', 'overview'], ['/users', 'people'], ['/clients', 'clients'], ['/clients/web', 'client'], ['/do/replaceClient?p.client_id=web', 'edit'], ['/do/removeClient?p.client_id=web', 'remove'], ['/do/createUser', 'new-person'], ['/keys', 'keys'], ['/settings', 'settings'], ['/audit', 'audit'], ['/token', 'token'], ['/operations', 'operations'], ['/explain?user=alice&client=web', 'explain'], ['/wizard', 'wizard'], ['/wizard?kind=web', 'wizard-answers'], ['/connection/web', 'connection'], ['/agents', 'agents'], ['/sessions', 'sessions'], ['/mail', 'mail'], ['/audit?verify=1', 'audit-verified'], ['/brand', 'brand'], ['/cluster', 'cluster'], ['/drift', 'drift'], ['/rules', 'rules'], ['/realms', 'realms'], ['/users?ui_locales=ar', 'arabic']]) {
      await page.goto(at(below))
      await check(page, name)
    }
    await page.goto(at('/users?q=alice'))
    await page.click('main tbody th a')
    await page.waitForSelector('h1')
    await check(page, 'person')
    assert.deepEqual(broken, [])
  }))

test('what is typed is searched for at once, what is explained follows, and charts say their numbers', () =>
  withBrowser(async (page) => {
    const broken = []
    page.on('console', (message) => { if (message.type() === 'error') broken.push(message.text()) })
    await enter(page, administrator('console-live'))
    // The page itself stays: a mark in it is still there.
    await page.goto(at('/users'))
    await page.evaluate(() => { window.kept = true })
    await page.fill('#q', 'console-live')
    await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 1)
    assert.equal(await page.evaluate(() => window.kept && document.activeElement.id), 'q')
    assert.match(page.url(), /q=console-live/)
    // All rows are selected at once, and what would be done is shown before it is.
    await page.check('input[data-all]')
    await page.selectOption('#act', 'enableUser')
    await page.click('.bulk button')
    await page.waitForSelector('.picked')
    assert.match(await page.textContent('.picked'), /console-live/)
    await page.click('.sheet button.main')
    await page.waitForSelector('main table')
    assert.match(await page.textContent('main table'), /success/)
    await page.goto(at('/explain'))
    await page.fill('#q-client', 'web')
    await page.waitForSelector('#live .verdict[data-state=valid]')
    await page.goto(at('/brand'))
    const accent = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim())
    const before = await accent()
    await page.fill('#q-accent', '#7a1fa2')
    await page.waitForFunction((old) => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim() !== old, before)
    await page.goto(at(''))
    const span = page.locator('.chart.logins .span').last()
    await span.scrollIntoViewIfNeeded()
    await span.locator('.hit').hover({ force: true })
    assert.match(await page.textContent('.tip'), /· \d+/)
    assert.deepEqual(broken, [])
  }))

test('a client is made by the assistant, and what its application asks shows up on its page', () =>
  withBrowser(async (page) => {
    await enter(page, administrator('console-wizard'))
    await page.goto(at('/wizard'))
    await page.click('.kinds a[href*="kind=service"]')
    await page.fill('#name', 'Night job')
    await page.click('.sheet button[type=submit]')
    await page.waitForSelector('.once')
    const [id, secret] = await page.locator('.once dd').allTextContents()
    assert.match(await page.textContent('.snippet code'), new RegExp(`export CLIENT_ID='${id}'[^]*export CLIENT_SECRET='${secret}'`))
    await page.goto(at(`/connection/${id}`))
    await page.waitForSelector('#live .waiting')
    const asked = await page.request.post(`${dev.issuer}/token`, { form: { grant_type: 'client_credentials', client_id: id, client_secret: secret } })
    assert.equal(asked.status(), 200)
    await page.waitForSelector('#live .timeline', { timeout: 20000 })
    // The estimate is near the token that was issued.
    const { access_token: token } = await asked.json()
    const estimate = Number(await page.getAttribute('[data-token-bytes]', 'data-token-bytes'))
    assert.ok(Math.abs(estimate - token.length) < token.length / 20, `${estimate} and ${token.length}`)
  }))

test('the console is used by the keyboard: the way past the menu, the search, a record, back', () =>
  withBrowser(async (page) => {
    await enter(page, administrator('console-keys'))
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate(() => document.activeElement.id), 'console')
    await page.keyboard.press('/')
    assert.equal(await page.evaluate(() => document.activeElement.id), 'find')
    await page.keyboard.type('alice')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=alice/)
    await page.focus('main tbody th a')
    await page.keyboard.press('Enter')
    await page.waitForURL(/console\/users\/.+/)
    assert.match(await page.textContent('h1'), /alice/)
  }))

test('a client is made, changed by two at once, and removed, without a script', () =>
  withBrowser(
    async (page, context) => {
      await enter(page, administrator('console-plain'), '/do/createClient')
      await page.goto(at('/do/createClient'))
      await page.click('.more-fields > summary').catch(() => {})
      const fill = async (where, name, value) => where.locator(`[name="b.${name}"]`).evaluate((field, text) => { field.value = text }, value)
      // Without scripts of the page's own, fields in a fold are there all the same.
      await fill(page, 'client_id', 'console-shop')
      await fill(page, 'client_name', 'Shop')
      await fill(page, 'redirect_uris', 'https://shop.example/cb')
      await page.click('.sheet button[type=submit]')
      await page.waitForSelector('.once')
      assert.match(await page.textContent('main'), /client_secret/)
      const other = await context.newPage()
      for (const one of [page, other]) await one.goto(at('/do/replaceClient?p.client_id=console-shop'))
      await fill(other, 'client_name', 'Other')
      await other.click('.sheet button[type=submit]')
      await other.waitForURL(/done=replaceClient/)
      await fill(page, 'client_uri', 'https://shop.example/')
      await page.click('.sheet button[type=submit]')
      await page.waitForSelector('.conflict')
      await shoot(page, 'console-conflict')
      assert.equal(await page.inputValue('[name="b.client_name"]'), 'Other')
      assert.equal(await page.inputValue('[name="b.client_uri"]'), 'https://shop.example/')
      await page.click('.sheet button[type=submit]')
      await page.waitForURL(/done=replaceClient/)
      await page.goto(at('/do/removeClient?p.client_id=console-shop'))
      await page.fill('#confirm', 'console-shop')
      await page.click('.sheet button[type=submit]')
      await page.waitForURL(/done=removeClient/)
      await page.goto(at('/clients'))
      assert.doesNotMatch(await page.textContent('main'), /console-shop/)
    },
    { javaScriptEnabled: false },
  ))

test('a passkey opens the console by itself', () =>
  withBrowser(async (page, context) => {
    const person = administrator('console-passkey')
    // A virtual device answers at once what is asked for behind the autofill.
    await page.addInitScript(() => { PublicKeyCredential.isConditionalMediationAvailable = async () => false })
    const cdp = await context.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } })
    await page.goto(`${dev.issuer}/account`)
    await page.waitForSelector('input[name=passkey_capable]', { state: 'attached' })
    await logIn(page, person)
    await page.waitForSelector('button[value=later]')
    await page.click('button[value=passkey-add]')
    await atAccount(page)
    await context.clearCookies()
    await page.goto(at(''))
    await page.click('button[value=passkey]')
    await page.waitForSelector('.attention')
    assert.match(await page.textContent('h1'), /Overview/)
    await shoot(page, 'console-by-passkey')
  }))

test('whoever may not administer sees nothing of it', () =>
  withBrowser(async (page) => {
    const other = { username: 'console-nobody', password: 'a calm set of words' }
    addPerson(other)
    await page.goto(`${dev.issuer}/account`)
    await logIn(page, other)
    await page.waitForLoadState()
    const answer = await page.goto(at('/users'))
    assert.equal(answer.status(), 403)
    assert.equal(await page.locator('nav').count(), 0)
  }))
