// The script of check_session_iframe as it is shipped, with a document, a cookie and messages of the test's own.
import assert from 'node:assert/strict'
import { createHash, webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import vm from 'node:vm'

const SCRIPT = readFileSync(new URL('../../crates/pages/src/parts/check-session.js', import.meta.url), 'utf8')
const NAME = '__Host-signet-state'
const ORIGIN = 'https://client.example'
/** As `browser_state::of` makes it. */
const STATE = createHash('sha256').update('browser state').digest('base64url')

/** What a frame in a browser with this cookie says to a page. */
async function ask(cookie, message, origin = ORIGIN) {
  let listener
  const context = vm.createContext({
    document: { currentScript: { dataset: { cookie: NAME } }, cookie, hasStorageAccess: async () => true },
    crypto: webcrypto,
    TextEncoder,
    btoa,
    window: {},
    addEventListener: (_, given) => (listener = given),
  })
  vm.runInContext(SCRIPT, context)
  return new Promise((resolve) => listener({ data: message, origin, source: { postMessage: resolve } }))
}

/** `session_state` of a browser with this state, as anybody may compute it. */
const stateOf = (client, origin, state) =>
  `${createHash('sha256').update(`${client} ${origin} ${state} salt`).digest('base64url')}.salt`

const LOGGED_IN = `a=b; ${NAME}=${STATE}`
const LOGGED_OUT = `a=b; ${NAME}=none`
const NEVER_HERE = 'a=b'

test('a client hears "unchanged" while its login lasts', async () => {
  const message = `web ${stateOf('web', ORIGIN, STATE)}`
  assert.equal(await ask(LOGGED_IN, message), 'unchanged')
  assert.equal(await ask(LOGGED_OUT, message), 'changed')
  assert.equal(await ask(NEVER_HERE, message), 'changed')
  assert.equal(await ask(LOGGED_IN, `web ${stateOf('web', ORIGIN, 'another login')}`), 'changed')
  assert.equal(await ask(LOGGED_IN, message, 'https://stranger.example'), 'changed')
})

test('a page that knows no login hears the same whether there is one or not', async () => {
  const stranger = 'https://stranger.example'
  for (const guess of ['none', '', 'null', 'undefined']) {
    for (const browser of [LOGGED_IN, LOGGED_OUT, NEVER_HERE, `${NAME}=`]) {
      assert.equal(await ask(browser, `x ${stateOf('x', stranger, guess)}`, stranger), 'changed', `${guess} ${browser}`)
    }
  }
})
