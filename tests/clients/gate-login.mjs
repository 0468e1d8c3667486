// A person in a real browser, before an application that the gate guards: run by tests/gate/test_login.py, once for each reverse proxy.
// The argument is JSON: port (of the proxy), username, password.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const { port, username, password } = JSON.parse(process.argv[2])
const ORIGIN = 'https://orders.example.com'
const profile = mkdtempSync(join(tmpdir(), 'signet-gate-browser-'))
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  ignoreHTTPSErrors: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    `--host-resolver-rules=MAP orders.example.com:443 127.0.0.1:${port}`],
})

/** What the application was sent, as its page shows it. */
const told = async (page) => Object.fromEntries(JSON.parse(await page.textContent('body')).map(([name, value]) => [name.toLowerCase(), value]))

/** Does what the issuer's pages ask for, until the application answers. */
async function logIn(page) {
  for (let step = 0; step < 6 && new URL(page.url()).origin !== ORIGIN; step += 1) {
    if (await page.$('input[name=password]')) {
      await page.fill('input[name=username]', username)
      await page.fill('input[name=password]', password)
    }
    const later = await page.$('button[name=decision][value=later]')
    await Promise.all([page.waitForNavigation(), later ? later.click() : page.click('button[name=decision][value=allow]')])
  }
  assert.equal(new URL(page.url()).origin, ORIGIN)
}

try {
  const page = await context.newPage()
  const violations = []
  page.on('console', (message) => /Content Security Policy/.test(message.text()) && violations.push(message.text()))

  // A window, and another that is opened meanwhile: each comes back to its own place.
  await page.goto(`${ORIGIN}/orders/1?x=1&y=a%20b`)
  const second = await context.newPage()
  await second.goto(`${ORIGIN}/orders/2`)
  await logIn(page)
  assert.equal(page.url(), `${ORIGIN}/orders/1?x=1&y=a%20b`)
  assert.ok((await told(page))['x-auth-subject'])
  await second.goto(`${ORIGIN}/orders/2`)
  assert.equal((await told(second))['x-auth-subject'], (await told(page))['x-auth-subject'])

  // The cookie is the browser's, and not its scripts'.
  const cookies = await context.cookies(ORIGIN)
  const session = cookies.find((cookie) => cookie.name === '__Host-signet-gate')
  assert.deepEqual([session.httpOnly, session.secure, session.sameSite, session.path], [true, true, 'Lax', '/'])
  assert.equal(await page.evaluate(() => document.cookie), '')

  // A script gets its answer, and a 401 where the session is gone: no page of a login in its place.
  const fetched = () => page.evaluate(() => fetch('/data', { headers: { accept: 'text/html' } }).then((answer) => [answer.status, answer.redirected]))
  assert.deepEqual(await fetched(), [200, false])
  await context.clearCookies({ name: '__Host-signet-gate' })
  assert.deepEqual(await fetched(), [401, false])

  // Back through the issuer, whose session lasts: nothing is typed.
  await page.goto(`${ORIGIN}/again`)
  assert.equal(page.url(), `${ORIGIN}/again`, await page.textContent('body'))

  // Out by the button, through the issuer's page, and back; the next page asks again.
  await page.goto(`${ORIGIN}/.signet/logout`)
  await Promise.all([page.waitForNavigation(), page.click('main#logout button')])
  assert.notEqual(new URL(page.url()).origin, ORIGIN)
  await Promise.all([page.waitForURL(`${ORIGIN}/.signet/signed-out`), page.click('button[name=decision][value=allow]')])
  assert.ok(await page.$('main#signed-out'))
  await page.goto(`${ORIGIN}/again`)
  assert.ok(await page.$('input[name=password]'))
  assert.deepEqual(violations, [])
} finally {
  await context.close()
  rmSync(profile, { recursive: true, force: true })
}
