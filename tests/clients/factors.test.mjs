// A second factor, in a real browser: a code app by the secret that its page shows, the code at the next login, a browser that is remembered, a recovery code.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addPerson, atAccount, decide, dev, logIn, shoot, turnTo, withBrowser } from './browser.mjs'
import { codeOf, now } from './totp.mjs'

const person = { username: 'bertha', password: 'a calm set of other words' }

test('a code app, a remembered browser and a recovery code', async () => {
  addPerson(person)
  await withBrowser(async (page) => {
    const faults = []
    page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()) })
    await page.goto(`${dev.issuer}/account`)
    await logIn(page, person)
    await turnTo(page, 'security')
    await decide(page, 'totp-add')
    const secret = await page.textContent('#totp-secret')
    assert.match(secret, /^[A-Z2-7]{32}$/)
    const picture = await page.locator('#totp-qr').boundingBox()
    assert.ok(picture.width > 100 && picture.height > 100, 'the picture is drawn under the content security policy')
    await shoot(page, 'add-code-app')
    let step = now()
    await page.fill('input[name=totp]', codeOf(secret, step))
    await decide(page, 'totp-add')
    await decide(page, 'recovery-codes')
    const codes = await page.locator('ul#recovery-codes > li > code').allTextContents()
    assert.equal(codes.length, 10)
    await shoot(page, 'recovery-codes')
    // Whoever has not said that they are saved stays.
    await page.click('form.saved button.main')
    assert.equal(await page.locator('#recovery-codes').count(), 1)
    await page.check('#codes-saved')
    await page.click('form.saved button.main')
    await atAccount(page)

    // The next login asks: each code works once, so the next one of the app, which is accepted a step early.
    await page.context().clearCookies()
    await page.goto(`${dev.issuer}/account`)
    await logIn(page, person)
    await page.waitForSelector('input[name=totp]')
    await shoot(page, 'second-factor')
    await page.fill('input[name=totp]', codeOf(secret, step))
    await decide(page, 'allow')
    await page.waitForSelector('[role=alert]')
    step += 1
    await page.fill('input[name=totp]', codeOf(secret, step))
    await page.check('input[name=remember]')
    await decide(page, 'allow')
    await turnTo(page, 'security')
    await page.waitForSelector('#browsers')

    // In the remembered browser the password is enough.
    const kept = (await page.context().cookies()).filter((cookie) => cookie.name.includes('device'))
    await page.context().clearCookies()
    await page.context().addCookies(kept)
    await page.goto(`${dev.issuer}/account`)
    await logIn(page, person)
    await atAccount(page)

    // In another, a recovery code stands in for the app.
    await page.context().clearCookies()
    await page.goto(`${dev.issuer}/account`)
    await logIn(page, person)
    await page.waitForSelector('input[name=totp]')
    await decide(page, 'recovery')
    await page.fill('input[name=recovery_code]', codes[0])
    await shoot(page, 'recovery-code')
    await decide(page, 'allow')
    await atAccount(page)
    assert.deepEqual(faults, [])
  })
})
