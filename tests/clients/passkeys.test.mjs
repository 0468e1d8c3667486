// Passkeys in a real browser, with the virtual authenticator of its DevTools (WebAuthn Level 3, section 11): added, offered, used by the button, by autofill and as a
// further step; refused from another origin, with a counter that went back, and after removal.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { act, addPerson, arrive, atAccount, decide, dev, logIn, shoot, turnTo, withBrowser } from './browser.mjs'
import { web } from './relying-party.mjs'

const RESISTANT = 'urn:signet:acr:phishing-resistant'
let persons = 0
const newPerson = () => {
  persons += 1
  const person = { username: `passkey${persons}`, password: 'some calm words of a test' }
  addPerson(person)
  return person
}

/**
 * A device that holds passkeys and knows its user. Nobody touches it until `present(true)`. A virtual one answers at once what is asked for behind the autofill,
 * so the browser has none but where the test is about it.
 */
async function device(page, { autofill = false } = {}) {
  if (!autofill) await page.addInitScript(() => { PublicKeyCredential.isConditionalMediationAvailable = async () => false })
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable', { enableUI: false })
  const options = { protocol: 'ctap2', ctap2Version: 'ctap2_1', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: false }
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options })
  const credentials = async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  return {
    credentials,
    present: (enabled) => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
    /** Another device with the same key, which has signed `signCount` times. */
    async count(signCount) {
      const [credential] = await credentials()
      await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId: credential.credentialId })
      await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential, signCount } })
    },
  }
}

/** Presses a passkey's button while somebody touches the device. */
async function touch(page, key, decision) {
  await key.present(true)
  await decide(page, decision)
  await page.waitForLoadState()
}

const inside = atAccount
const logOut = async (page, key) => {
  await key.present(false)
  await page.context().clearCookies()
}

/** Logs in with the password, takes the offer, and is on the account page. */
async function takeOffer(page, key, person) {
  await page.goto(`${dev.issuer}/account`)
  await page.waitForSelector('input[name=passkey_capable]', { state: 'attached' })
  await logIn(page, person)
  await page.waitForSelector('button[value=later]')
  await touch(page, key, 'passkey-add')
  await inside(page)
}

test('a passkey is offered after a password, and the button logs in with it', () =>
  withBrowser(async (page) => {
    const faults = []
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    const person = newPerson()
    const key = await device(page)
    await page.goto(`${dev.issuer}/account`)
    await page.waitForSelector('input[name=passkey_capable]', { state: 'attached' })
    await logIn(page, person)
    await page.waitForSelector('button[value=later]')
    await shoot(page, 'passkey-offer')
    await touch(page, key, 'passkey-add')
    await inside(page)
    const [made] = await key.credentials()
    assert.equal(made.isResidentCredential, true)
    assert.equal(made.rpId, 'localhost')
    assert.equal(made.userName, person.username)

    await logOut(page, key)
    await page.goto(`${dev.issuer}/account`)
    await touch(page, key, 'passkey')
    await inside(page)
    assert.match(await page.textContent('main'), new RegExp(person.username))
    assert.deepEqual(faults, [])
  }))

test('an offer that is declined is not taken, and the account page adds one with a name', () =>
  withBrowser(async (page) => {
    const person = newPerson()
    const key = await device(page)
    await page.goto(`${dev.issuer}/account`)
    await page.waitForSelector('input[name=passkey_capable]', { state: 'attached' })
    await logIn(page, person)
    await decide(page, 'later')
    await inside(page)
    assert.equal((await key.credentials()).length, 0)
    await turnTo(page, 'security')
    await page.click('#add-passkey > summary')
    await page.fill('#passkey-label', 'Laptop')
    await touch(page, key, 'passkey-add')
    const row = page.locator('li', { has: page.locator('input[name=kind][value=passkey]') })
    await row.waitFor()
    assert.match(await row.textContent(), /Laptop.*Stays on this device/s)
    assert.doesNotMatch(await row.textContent(), /used/i)
    await shoot(page, 'passkey-on-account')

    // The same device again: the browser sees that it has one, and asks nobody.
    await page.click('#add-passkey > summary')
    await touch(page, key, 'passkey-add')
    await page.waitForSelector('#passkey-add-problem:not([hidden])')
    assert.equal((await key.credentials()).length, 1)

    // The last use is shown once there was one.
    await logOut(page, key)
    await page.goto(`${dev.issuer}/account`)
    await touch(page, key, 'passkey')
    await turnTo(page, 'security')
    await row.waitFor()
    assert.match(await row.textContent(), /used/i)
  }))

test('the name of a passkey is changed on the account page', () =>
  withBrowser(async (page) => {
    const person = newPerson()
    const key = await device(page)
    await takeOffer(page, key, person)
    const row = page.locator('li', { has: page.locator('input[name=kind][value=passkey]') })
    await turnTo(page, 'security')
    await row.locator('button[popovertarget^=rename]').first().click()
    await row.locator('input[name=label]').fill('  Telephone of <b>Bertha</b> ')
    await row.locator('button[value=credential-rename]').click()
    await page.waitForSelector('.notice[role=status]')
    assert.equal(await row.locator('.name').textContent(), 'Telephone of <b>Bertha</b>')
    await shoot(page, 'passkey-renamed')
    // It is the same passkey.
    await logOut(page, key)
    await page.goto(`${dev.issuer}/account`)
    await touch(page, key, 'passkey')
    await inside(page)
  }))

test('a browser offers the passkey in the name field, and no button is pressed', () =>
  withBrowser(async (page) => {
    const person = newPerson()
    const key = await device(page, { autofill: true })
    await takeOffer(page, key, person)
    await logOut(page, key)
    const mediations = []
    await page.exposeFunction('asked', (mediation) => mediations.push(mediation))
    await page.addInitScript(() => {
      const get = navigator.credentials.get.bind(navigator.credentials)
      navigator.credentials.get = (options) => (window.asked(options.mediation), get(options))
    })
    await key.present(true)
    await page.goto(`${dev.issuer}/account`)
    await inside(page)
    assert.deepEqual(mediations, ['conditional'])
    assert.match(await page.textContent('main'), new RegExp(person.username))
  }))

test('an application that asks for what cannot be phished gets it as a further step', () =>
  web(({ redirect, request, finish }) =>
    withBrowser(async (page) => {
      const person = newPerson()
      const key = await device(page)
      await takeOffer(page, key, person)
      await logOut(page, key)
      await page.goto(await request({ acr_values: RESISTANT }))
      await logIn(page, person)
      await page.waitForSelector('button[value=passkey].main')
      await shoot(page, 'passkey-step')
      await touch(page, key, 'passkey')
      const claims = (await finish(await arrive(page, redirect))).claims()
      assert.match(claims.acr, /phishing-resistant/)
      assert.ok(claims.amr.includes('pwd') && claims.amr.includes('mfa'), String(claims.amr))
    }),
  ))

test('an answer that another origin asked for is refused', () =>
  withBrowser(async (page) => {
    const person = newPerson()
    const key = await device(page)
    await takeOffer(page, key, person)
    await logOut(page, key)
    const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>another</title>'))
    await new Promise((resolve) => server.listen(0, resolve))
    const port = server.address().port
    try {
      await page.goto(`${dev.issuer}/account`)
      const options = await page.getAttribute('button[value=passkey]', 'data-passkey-get')
      const ask = (text) => {
        const options = JSON.parse(text)
        const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))
        const plain = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
        return navigator.credentials.get({ publicKey: { ...options, challenge: bytes(options.challenge) } }).then(
          ({ rawId, type, response }) => JSON.stringify({
            id: plain(rawId), rawId: plain(rawId), type,
            response: { clientDataJSON: plain(response.clientDataJSON), authenticatorData: plain(response.authenticatorData), signature: plain(response.signature), userHandle: plain(response.userHandle) },
          }),
          (error) => error.name,
        )
      }
      // Another host: the browser refuses by itself.
      const other = await page.context().newPage()
      const otherKey = await other.context().newCDPSession(other)
      await otherKey.send('WebAuthn.enable', { enableUI: false })
      const { authenticatorId } = await otherKey.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } })
      const [credential] = await key.credentials()
      await otherKey.send('WebAuthn.addCredential', { authenticatorId, credential })
      await other.goto(`http://elsewhere.localhost:${port}/`)
      assert.equal(await other.evaluate(ask, options), 'SecurityError')
      // Another port of the host: the browser signs, and the server compares the origin.
      await other.goto(`http://localhost:${port}/`)
      const stolen = await other.evaluate(ask, options)
      assert.match(stolen, /clientDataJSON/)
      await other.close()
      await page.evaluate((answer) => {
        const form = document.querySelector('button[value=passkey]').form
        for (const [name, value] of [['passkey', answer], ['decision', 'passkey']]) form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }))
        HTMLFormElement.prototype.submit.call(form)
      }, stolen)
      await page.waitForSelector('[role=alert]:not([hidden])')
      assert.match(await page.textContent('[role=alert]:not([hidden])'), /not accepted/)
      assert.match(readFileSync(process.env.SIGNET_SERVER_LOG, 'utf8'), /refused a passkey/)
      // The person's own page is not spoilt by it.
      await touch(page, key, 'passkey')
      await inside(page)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }))

test('a counter that went back is refused and told, at the first step and at a further one', () =>
  web(({ redirect, request, finish }) =>
    withBrowser(async (page) => {
      const person = newPerson()
      const key = await device(page)
      await takeOffer(page, key, person)
      await logOut(page, key)
      await page.goto(`${dev.issuer}/account`)
      await touch(page, key, 'passkey')
      await inside(page)
      const [{ signCount }] = await key.credentials()
      assert.ok(signCount > 0)
      const told = () =>
        readdirSync(dev.mail_dir).filter((file) => {
          const mail = readFileSync(join(dev.mail_dir, file), 'utf8')
          return mail.includes(`${person.username}@`) && /copy of your passkey/i.test(mail)
        }).length
      assert.equal(told(), 0)

      await key.count(0)
      await logOut(page, key)
      await page.goto(`${dev.issuer}/account`)
      await touch(page, key, 'passkey')
      await page.waitForSelector('[role=alert]:not([hidden])')
      assert.equal(await page.locator('nav.tabs').count(), 0)
      for (let i = 0; i < 50 && told() === 0; i += 1) await page.waitForTimeout(100)
      assert.equal(told(), 1)

      // As a further step: refused, and the page asks anew, so the device that has the right count goes on from there.
      await logOut(page, key)
      await key.count(0)
      await page.goto(await request({ acr_values: RESISTANT }))
      await logIn(page, person)
      await page.waitForSelector('button[value=passkey].main')
      const challenge = () => page.getAttribute('button[value=passkey]', 'data-passkey-get')
      const first = await challenge()
      await touch(page, key, 'passkey')
      await page.waitForSelector('[role=alert]:not([hidden])')
      assert.notEqual(await challenge(), first)
      await key.count(signCount + 100)
      await touch(page, key, 'passkey')
      const claims = (await finish(await arrive(page, redirect))).claims()
      assert.match(claims.acr, /phishing-resistant/)
    }),
  ))

test('a passkey that was removed logs nobody in', () =>
  withBrowser(async (page) => {
    const person = newPerson()
    const key = await device(page)
    await takeOffer(page, key, person)
    const row = page.locator('li', { has: page.locator('input[name=kind][value=passkey]') })
    await turnTo(page, 'security')
    // The dialog names it, and closes without having done anything.
    await row.locator('button[popovertarget^=remove]').first().click()
    const dialog = page.locator('[role=dialog]:visible')
    assert.match(await dialog.textContent(), /Remove Passkey, since/)
    await page.keyboard.press('Escape')
    assert.equal(await dialog.count(), 0)
    await act(page, row, 'credential-remove')
    await page.waitForSelector('.notice[role=status]')
    assert.equal(await row.count(), 0)
    await logOut(page, key)
    await page.goto(`${dev.issuer}/account`)
    await touch(page, key, 'passkey')
    await page.waitForSelector('[role=alert]:not([hidden])')
    assert.match(await page.textContent('[role=alert]:not([hidden])'), /not accepted/)
  }))

test('where a passkey was used, it comes first, and Enter still sends the password', () =>
  withBrowser(async (page) => {
    const person = newPerson()
    const key = await device(page)
    await takeOffer(page, key, person)
    await logOut(page, key)
    await page.goto(`${dev.issuer}/account`)
    const order = await page.locator('button.main, #username').evaluateAll((all) => all.map((one) => one.value || one.id))
    assert.deepEqual(order, ['passkey', 'username'])
    await page.fill('#username', person.username)
    await page.fill('#password', person.password)
    await page.press('#password', 'Enter')
    await inside(page)
    await logOut(page, key)
    await page.goto(`${dev.issuer}/account`)
    await touch(page, key, 'passkey')
    await inside(page)
  }))
