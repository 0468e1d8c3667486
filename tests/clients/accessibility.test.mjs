// Every page a person meets, by axe-core in both colour schemes, at 320 pixels, in forced colours, with reduced motion, and by the keyboard alone.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import * as client from 'openid-client'
import { addPerson, atAccount, decide, dev, logIn, shoot, signet, turnTo, withBrowser } from './browser.mjs'
import { web } from './relying-party.mjs'
import { codeOf, now } from './totp.mjs'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const size = { width: 1000, height: 800 }
const seen = new Set()

/** What can be reached by the Tab key, in the order of the document. */
const reachable = () =>
  [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')].filter((one) => one.checkVisibility() && !one.disabled).map((one) => one.id || one.outerHTML.slice(0, 120))

async function byKeyboard(page, name) {
  const expected = await page.evaluate(reachable)
  await page.evaluate(() => { document.activeElement?.blur(); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex') })
  const met = []
  for (let i = 0; i < expected.length; i += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const one = document.activeElement
      const style = getComputedStyle(one)
      return { id: one.id || one.outerHTML.slice(0, 120), ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 }
    })
    assert.ok(focused.ring, `${name}: ${focused.id} has no ring while it has the focus`)
    met.push(focused.id)
  }
  assert.deepEqual(met, expected, `${name}: the order of the Tab key`)
}

async function check(page, name) {
  seen.add(name)
  await page.evaluate(axe)
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
    const told = violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`)
    assert.deepEqual(told, [], `${name}, ${colorScheme}`)
    await shoot(page, `${name}-${colorScheme}`)
  }
  const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((one) => /[1-9]/.test(getComputedStyle(one).transitionDuration + getComputedStyle(one).animationDuration)).length)
  assert.equal(moving, 0, `${name}: something moves although the person asked for less`)
  await byKeyboard(page, name)
  await page.setViewportSize({ width: 320, height: 640 })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.ok(wide <= 320, `${name}: ${wide} pixels wide at 320`)
  const small = await page.evaluate(() =>
    // WCAG 2.2, 2.5.8: 24 pixels; links within a sentence are excepted.
    [...document.querySelectorAll('button, input:not([type=hidden]), select, summary')].filter((one) => one.checkVisibility()).filter((one) => { const { width, height } = one.getBoundingClientRect(); return width < 20 || height < 20 }).map((one) => one.outerHTML.slice(0, 120)))
  assert.deepEqual(small, [], `${name}: targets that are too small`)
  await shoot(page, `${name}-320`)
  await page.setViewportSize(size)
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active', reducedMotion: 'no-preference' })
  const flat = await page.evaluate(() => [...document.querySelectorAll('button.main, a.button.main')].filter((one) => one.checkVisibility() && parseFloat(getComputedStyle(one).borderTopWidth) < 1).length)
  assert.equal(flat, 0, `${name}: a main button without a border in forced colours`)
  await shoot(page, `${name}-forced`)
  await page.emulateMedia({ forcedColors: 'none' })
}

/** A dialog of the account page: what is looked at is what is above the rest. */
async function inDialog(page, id) {
  seen.add(id)
  await page.evaluate(axe)
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const { violations } = await page.evaluate((id) => window.axe.run(document.getElementById(id), { resultTypes: ['violations'] }), id)
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`), [], `${id}, ${colorScheme}`)
    await shoot(page, `${id}-${colorScheme}`)
  }
  // The next Tab is inside.
  await page.keyboard.press('Tab')
  assert.ok(await page.evaluate((id) => document.getElementById(id).contains(document.activeElement), id), id)
  await page.emulateMedia({ colorScheme: 'light' })
}

const newest = (person, pattern) => {
  const mails = readdirSync(dev.mail_dir).filter((file) => file.endsWith('.eml')).sort()
  const texts = mails.map((file) => readFileSync(join(dev.mail_dir, file), 'utf8')).filter((text) => text.includes(`${person.username}@`))
  // Quoted-printable: soft line ends, and `=3D`.
  return texts.map((text) => pattern.exec(text.replace(/=\r?\n/g, '').replace(/=3D/g, '='))).filter(Boolean).at(-1)
}
async function mailed(person, pattern) {
  for (let i = 0; i < 100; i += 1) {
    const found = newest(person, pattern)
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`no mail to ${person.username}`)
}

test('pages of a login, of the account and of errors', () =>
  web(({ config, redirect, request }) =>
    withBrowser(async (page) => {
      const person = { username: 'anneliese', password: 'words that a test made up' }
      addPerson(person)
      await page.goto(await request())
      await check(page, 'login')
      await logIn(page, { ...person, password: 'not the password' })
      await page.waitForSelector('[role=alert]:not([hidden])')
      await check(page, 'login-wrong')
      await page.fill('input[name=username]', person.username)
      await decide(page, 'email')
      await page.waitForSelector('input[name=otp]')
      await check(page, 'mailed-code')

      await page.goto(`${dev.issuer}/account/recover`)
      await check(page, 'recover')
      await page.fill('input[name=username]', person.username)
      await decide(page, 'email')
      await page.waitForURL('**/account/recover')
      await check(page, 'recover-sent')
      const [link] = await mailed(person, /https:\/\/localhost:\d+\/account\/recover\?token=[\w.~-]+/)
      await page.goto(link)
      await check(page, 'reset')
      person.password = 'five other words of a test'
      await page.fill('#new_password', person.password)
      await decide(page, 'password')
      await page.waitForURL('**/account?password=set*')
      assert.match(await page.textContent('[role=status]'), /new password is set/)
      await check(page, 'reset-done')
      await page.goto(link.slice(0, -4))
      await check(page, 'recover-ended')

      await page.goto(await request({ scope: 'openid profile email address signet:admin', prompt: 'consent' }))
      await logIn(page)
      await page.waitForSelector('button[value=deny]')
      await check(page, 'consent')
      await page.goto(await request({ prompt: 'select_account' }))
      await page.waitForSelector('button[value=other]')
      await check(page, 'choose-account')

      await page.goto(`${dev.issuer}/account`)
      await check(page, 'account')
      for (const part of await page.locator('nav.tabs a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))) {
        await page.goto(`${dev.issuer}/account${part}`)
        await check(page, `account-${part.slice(1)}`)
      }
      const answer = await fetch(config.serverMetadata().device_authorization_endpoint, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${dev.clients.web.client_id}:${dev.clients.web.client_secret}`)}` },
        body: new URLSearchParams({ scope: 'openid profile' }),
      })
      const { user_code, verification_uri } = await answer.json()
      await page.goto(verification_uri)
      await check(page, 'device')
      await page.fill('input[name=user_code]', user_code)
      await page.locator('form:not(.language) button').first().click()
      await page.waitForSelector('button[value=deny]')
      await check(page, 'device-confirm')
      await decide(page, 'allow')
      await page.waitForLoadState()
      await check(page, 'device-done')

      await page.goto(client.buildEndSessionUrl(config, {}).href)
      await check(page, 'log-out')
      await decide(page, 'allow')
      await page.waitForSelector('main#signed-out')
      await check(page, 'logged-out')

      await page.goto(await request({ redirect_uri: 'https://attacker.example/callback' }))
      await page.waitForSelector('main#error')
      await check(page, 'error')
      await page.goto(`${dev.issuer}/nowhere`)
      await check(page, 'not-found')
      // A page that was left open, and a browser without cookies, are two things.
      await page.goto(await request())
      await page.evaluate(() => { document.querySelector('input[name=interaction]').value = 'damaged' })
      await logIn(page, person)
      await page.waitForSelector('main#error')
      const old = await page.textContent('main')
      await check(page, 'error-expired')
      await page.goto(await request())
      await page.context().clearCookies()
      await logIn(page, person)
      await page.waitForSelector('main#error')
      assert.match(await page.textContent('main'), /cookies/)
      assert.doesNotMatch(old, /cookies/)
      await check(page, 'error-cookies')
    }, { viewport: size }),
  ))

test('pages of second factors and passkeys', () =>
  web(({ request }) =>
    withBrowser(async (page) => {
      const person = { username: 'dorothea', password: 'words that a test made up' }
      addPerson(person)
      const cdp = await page.context().newCDPSession(page)
      await cdp.send('WebAuthn.enable', { enableUI: false })
      const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: false } })
      await page.addInitScript(() => { PublicKeyCredential.isConditionalMediationAvailable = async () => false })
      await page.goto(`${dev.issuer}/account`)
      await page.waitForSelector('input[name=passkey_capable]', { state: 'attached' })
      await logIn(page, person)
      await page.waitForSelector('button[value=later]')
      await check(page, 'passkey-offer')
      await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true })
      await decide(page, 'passkey-add')
      await turnTo(page, 'security')
      await decide(page, 'totp-add')
      const secret = await page.textContent('#totp-secret')
      await check(page, 'add-code-app')
      const step = now()
      await page.fill('input[name=totp]', codeOf(secret, step))
      await decide(page, 'totp-add')
      await decide(page, 'recovery-codes')
      await page.waitForSelector('#recovery-codes')
      await check(page, 'recovery-codes')
      await page.check('#codes-saved')
      await page.click('form.saved button.main')
      await turnTo(page, 'security')
      await page.click('#change-password > summary')
      await page.click('#add-passkey > summary')
      await check(page, 'account-with-factors')
      for (const dialog of ['rename-passkey-0', 'remove-passkey-0']) {
        await page.click(`button[popovertarget=${dialog}]`)
        await inDialog(page, dialog)
        await page.keyboard.press('Escape')
      }

      await page.context().clearCookies()
      await page.goto(`${dev.issuer}/account`)
      await logIn(page, person)
      await page.waitForSelector('input[name=totp]')
      await check(page, 'second-factor')
      await decide(page, 'recovery')
      await page.waitForSelector('input[name=recovery_code]')
      await check(page, 'recovery-code')

      await page.context().clearCookies()
      await page.goto(await request({ acr_values: 'urn:signet:acr:phishing-resistant' }))
      await logIn(page, person)
      await page.fill('input[name=totp]', codeOf(secret, step + 1))
      await decide(page, 'allow')
      await page.waitForSelector('button[value=passkey].main')
      await check(page, 'passkey-step')
    }, { viewport: size }),
  ))

test('pages of identity providers, of a temporary password, and of an error that leads away by a link only', () =>
  web(({ request }) =>
    withBrowser(async (page) => {
      for (const preset of ['github', 'google']) {
        signet(['provider', 'add', `axe-${preset}`, '--preset', preset, '--client-id', 'signet', '--client-secret-file', '-'], 'a secret of nobody')
      }
      try {
        await page.goto(await request())
        await page.waitForSelector('button[value^="provider:"]')
        await check(page, 'login-with-providers')
      } finally {
        for (const preset of ['github', 'google']) signet(['provider', 'remove', `axe-${preset}`, '--yes'])
      }

      const person = { username: 'eleanor', password: 'words that an operator made up' }
      signet(['user', 'add', person.username, '--email', 'eleanor@example.test', '--temporary', '--password-stdin'], `${person.password}\n`)
      await page.goto(await request())
      await logIn(page, person)
      await page.waitForSelector('input[name=new_password]')
      await check(page, 'change-password')

      const registered = await fetch(`${dev.issuer}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['https://self-made.example/back'], client_name: 'Self-made' }),
      })
      assert.equal(registered.status, 201)
      const { client_id } = await registered.json()
      const leaving = new URLSearchParams({ client_id, redirect_uri: 'https://self-made.example/back', response_type: 'token' })
      await page.goto(`${dev.issuer}/authorize?${leaving}`)
      await page.waitForSelector('main#error a[href^="https://self-made.example/"]')
      await check(page, 'error-leaving')
    }, { viewport: size }),
  ))

test('pages of a new account, of an invitation, and of a deletion', () =>
  web(({ request, redirect }) =>
    withBrowser(async (page) => {
      const person = { username: 'felicitas', password: 'five other words of a test' }
      await page.goto(await request({ prompt: 'create' }))
      await page.waitForSelector('input[name=email]')
      await check(page, 'sign-up')
      await page.fill('input[name=email]', `${person.username}@example.test`)
      await decide(page, 'email')
      await page.waitForSelector('h1:text("Check your mail")')
      await check(page, 'sign-up-sent')
      const [link] = await mailed(person, /https:\/\/localhost:\d+\/sign-up\?token=[\w.~-]+/)
      await page.goto(link)
      await check(page, 'sign-up-link')
      await page.fill('#name', 'Felicitas')
      await page.fill('#new_password', person.password)
      await decide(page, 'allow')
      // Logged in, and on to the application that asked. The page can be loaded again.
      await page.waitForSelector('button[value=deny]')
      assert.match(page.url(), /\/interaction\?request=/)
      await check(page, 'sign-up-done')
      await decide(page, 'allow')
      await page.waitForURL(`${redirect}*`)
      await page.goto(link)
      await check(page, 'sign-up-ended')

      const invited = { username: 'gregory', password: 'five other words of a test' }
      signet(['user', 'invite', invited.username, '--email', `${invited.username}@example.test`])
      const [invitation] = await mailed(invited, /https:\/\/localhost:\d+\/invitation\?token=[\w.~-]+/)
      await page.context().clearCookies()
      await page.goto(invitation)
      await check(page, 'invitation')
      await page.fill('#new_password', invited.password)
      await decide(page, 'allow')
      await atAccount(page)
      await page.goto(invitation)
      await page.waitForSelector('main#error')
      await check(page, 'invitation-ended')

      await page.goto(`${dev.issuer}/account#data`)
      await page.click('button[popovertarget=delete-account]')
      await inDialog(page, 'delete-account')
      await page.check('#delete-confirmed')
      await decide(page, 'delete-account')
      await page.waitForSelector('time')
      await check(page, 'deletion')
      const [keep] = await mailed(invited, /https:\/\/localhost:\d+\/account\/keep\?token=[\w.~-]+/)
      await page.goto(keep)
      await check(page, 'keep-account')
      await decide(page, 'allow')
      await page.waitForURL('**/account?account=kept')
      await logIn(page, invited)
      await atAccount(page)
    }, { viewport: size }),
  ))

test('what was looked at is every page', () => {
  assert.ok(seen.size >= 45, `${seen.size}: ${[...seen]}`)
})
