// OpenID Connect Session Management 1.0 in a real browser: a page of an application asks the frame of check_session_iframe.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { addPerson, arrive, decide, dev, logIn, signet, withBrowser } from './browser.mjs'
import { web } from './relying-party.mjs'

const PERSON = { username: 'sessionist', password: 'a quiet tram in october' }

/**
 * An application of Signet's own site, as id.example.com and app.example.com are of one: there browsers give the frame its cookie. It has a
 * server, for to a page that a test makes up the loopback address would be another network.
 */
async function application(use) {
  const place = mkdtempSync(join(tmpdir(), 'signet-application-'))
  const [key, cert] = [join(place, 'key.pem'), join(place, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', key, '-out', cert]
  assert.equal(spawnSync('openssl', made).status, 0)
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><link rel="icon" href="data:,"><title>application</title>')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await use(`https://localhost:${server.address().port}`)
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(place, { recursive: true })
  }
}

/** What the frame in `page` says to a message. */
const ask = (page, message) =>
  page.evaluate(
    ([message, origin]) =>
      new Promise((resolve) => {
        addEventListener('message', (event) => resolve([event.origin === origin, event.data]), { once: true })
        frames[0].postMessage(message, origin)
        setTimeout(() => resolve([true, 'no answer']), 5000)
      }),
    [message, new URL(dev.issuer).origin],
  )

async function frameIn(page, src) {
  await page.evaluate((src) => {
    const frame = document.createElement('iframe')
    frame.src = src
    document.body.append(frame)
    return new Promise((resolve) => (frame.onload = resolve))
  }, src)
}

test('a page hears "unchanged" while the login lasts, "changed" after the logout, and "error" for nonsense', (t) =>
  application((origin) =>
    web(({ config, request }) =>
      withBrowser(async (page, context) => {
      addPerson(PERSON)
      const client_id = 'session-asker'
      signet(['client', 'add', '--client-id', client_id, '--redirect-uri', `${origin}/cb`, '--scope', 'openid', 'token_endpoint_auth_method=none'])
      t.after(() => signet(['client', 'remove', client_id, '--yes']))
      const frame = config.serverMetadata().check_session_iframe
      assert.equal(frame, `${dev.issuer}/check-session`)
      const logInHere = async () => {
        await page.goto(await request({ client_id, redirect_uri: `${origin}/cb`, scope: 'openid' }))
        await logIn(page, PERSON)
        return (await arrive(page, origin)).searchParams.get('session_state')
      }
      const state = await logInHere()
      assert.match(state, /^[\w-]{43}\.[\w-]{22}$/)

      const asker = await context.newPage()
      const problems = []
      asker.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
      asker.on('pageerror', (error) => problems.push(String(error)))
      await asker.goto(`${origin}/asking`)
      await frameIn(asker, frame)
      assert.deepEqual(await ask(asker, `${client_id} ${state}`), [true, 'unchanged'])
      assert.deepEqual(await ask(asker, `another ${state}`), [true, 'changed'])
      for (const nonsense of ['', client_id, `${client_id} nothing`, `${client_id}  ${state}`, { a: 1 }, 'x'.repeat(5000)]) {
        assert.deepEqual(await ask(asker, nonsense), [true, 'error'], JSON.stringify(nonsense))
      }

      await page.goto(`${dev.issuer}/logout`)
      await decide(page, 'allow')
      await page.waitForSelector('#signed-out')
      assert.deepEqual(await ask(asker, `${client_id} ${state}`), [true, 'changed'])
      // Another login is another state.
      const again = await logInHere()
      assert.deepEqual(await ask(asker, `${client_id} ${again}`), [true, 'unchanged'])
      assert.deepEqual(await ask(asker, `${client_id} ${state}`), [true, 'changed'])
      assert.deepEqual(problems, [])
    }, { ignoreHTTPSErrors: true }),
  )))

test('where the browser keeps cookies from frames of other sites, the answer is "error" and no logout', () =>
  web(({ config, redirect, request }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      await logIn(page, PERSON)
      const state = (await arrive(page, redirect)).searchParams.get('session_state')
      await frameIn(page, config.serverMetadata().check_session_iframe)
      assert.deepEqual(await ask(page, `${dev.clients.web.client_id} ${state}`), [true, 'error'])
    }),
  ))
