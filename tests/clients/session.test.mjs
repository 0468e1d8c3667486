// OpenID Connect Session Management 1.0 in a real browser: a page of an application asks the frame of check_session_iframe.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { addPerson, arrive, decide, dev, logIn, withBrowser } from './browser.mjs'
import { web } from './relying-party.mjs'

const PERSON = { username: 'sessionist', password: 'a quiet tram in october' }

/** A page with the frame in it; what the frame says to `message` is what `ask` gives. */
const asking = (frame) => `<!doctype html><title>asking</title><iframe id=op src="${frame}"></iframe>
<script>
  const loaded = new Promise((resolve) => document.getElementById('op').addEventListener('load', resolve))
  const ask = async (message) => {
    await loaded
    const answer = new Promise((resolve) => addEventListener('message', (event) => event.origin === '${new URL(frame).origin}' && resolve(event.data), { once: true }))
    document.getElementById('op').contentWindow.postMessage(message, '${new URL(frame).origin}')
    return answer
  }
</script>`

test('a page hears "unchanged" while the login lasts, "changed" after the logout, and "error" for nonsense', () =>
  web(({ config, redirect, request }) =>
    withBrowser(async (page, context) => {
      addPerson(PERSON)
      const frame = config.serverMetadata().check_session_iframe
      assert.equal(frame, `${dev.issuer}/check-session`)
      await page.goto(await request())
      await logIn(page, PERSON)
      const back = await arrive(page, redirect)
      const state = back.searchParams.get('session_state')
      assert.match(state, /^[\w-]{43}\.[\w-]{22}$/)

      // The application's page, of the redirect URI's origin.
      const problems = []
      const asker = await context.newPage()
      asker.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
      asker.on('pageerror', (error) => problems.push(String(error)))
      await asker.route(`${new URL(redirect).origin}/asking`, (route) => route.fulfill({ contentType: 'text/html', body: asking(frame) }))
      await asker.goto(`${new URL(redirect).origin}/asking`)
      const ask = (message) => asker.evaluate((message) => ask(message), message)
      const { client_id } = dev.clients.web
      assert.equal(await ask(`${client_id} ${state}`), 'unchanged')
      assert.equal(await ask(`another ${state}`), 'changed')
      for (const nonsense of ['', client_id, `${client_id} nothing`, `${client_id}  ${state}`, { a: 1 }, 'x'.repeat(5000)]) {
        assert.equal(await ask(nonsense), 'error', JSON.stringify(nonsense))
      }

      await page.goto(`${dev.issuer}/logout`)
      await decide(page, 'allow')
      await page.waitForSelector('#signed-out')
      assert.equal(await ask(`${client_id} ${state}`), 'changed')

      // Another login is another state.
      await page.goto(await request())
      await logIn(page, PERSON)
      const again = (await arrive(page, redirect)).searchParams.get('session_state')
      assert.equal(await ask(`${client_id} ${again}`), 'unchanged')
      assert.equal(await ask(`${client_id} ${state}`), 'changed')
      assert.deepEqual(problems, [])
    }),
  ))

test('a page of another origin hears "changed" with the same words, and the login page is in nobody\'s frame', () =>
  web(({ redirect, request, config }) =>
    withBrowser(async (page) => {
      await page.goto(await request())
      await logIn(page, PERSON)
      const state = (await arrive(page, redirect)).searchParams.get('session_state')
      const frame = config.serverMetadata().check_session_iframe
      const other = createServer((_, response) => response.setHeader('content-type', 'text/html').end(asking(frame)))
      await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve))
      try {
        const origin = `http://127.0.0.1:${other.address().port}`
        await page.goto(origin)
        const answer = await page.evaluate((message) => ask(message), `${dev.clients.web.client_id} ${state}`)
        assert.equal(answer, 'changed')
        const refused = page.waitForEvent('console', (message) => /frame-ancestors/i.test(message.text()))
        await page.evaluate((src) => {
          document.getElementById('op').src = src
        }, `${dev.issuer}/account`)
        await refused
      } finally {
        other.closeAllConnections()
        other.close()
      }
    }),
  ))
