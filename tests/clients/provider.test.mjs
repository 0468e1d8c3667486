// A certified provider that nobody here wrote (npm's oidc-provider) as the identity provider of a person: login with claims and groups
// taken over, its DPoP and its userinfo, and a logout there that ends the session here.
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { test } from 'node:test'
import Provider from 'oidc-provider'
import * as client from 'openid-client'
import { decide, dev, shoot, signet, withBrowser } from './browser.mjs'
import { web } from './relying-party.mjs'

const NAME = 'elsewhere'
const SECRET = randomBytes(32).toString('hex')

/** What the provider knows of whoever logs in there: any name is an account. */
const account = (sub) => ({
  accountId: sub,
  claims: () => ({
    sub,
    email: `${sub}@elsewhere.example`,
    email_verified: true,
    preferred_username: sub,
    given_name: 'Greta',
    family_name: 'Elsewhere',
    team: { name: 'Orbit' },
    roles: ['staff', 'nothing-here'],
  }),
})

/** The provider on a free loopback port. */
async function elsewhere(use) {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${server.address().port}`
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'signet',
        client_secret: SECRET,
        redirect_uris: [`${dev.issuer}/providers/${NAME}/callback`],
        backchannel_logout_uri: `${dev.issuer}/providers/${NAME}/backchannel-logout`,
        backchannel_logout_session_required: true,
        post_logout_redirect_uris: [`${dev.issuer}/providers/${NAME}/logged-out`],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...key, alg: 'ES256', use: 'sig', kid: 'one' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    claims: { email: ['email', 'email_verified'], profile: ['preferred_username', 'given_name', 'family_name', 'team', 'roles'] },
    features: { backchannelLogout: { enabled: true } },
    // Its own guard refuses loopback addresses, and everything here is on one.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    findAccount: (_, sub) => account(sub),
  })
  const heard = []
  for (const event of ['backchannel.success', 'backchannel.error']) {
    provider.on(event, (_, error) => heard.push(error instanceof Error ? `${event}: ${error.message} ${error.cause?.message ?? ''}` : event))
  }
  for (const event of ['grant.error', 'authorization.error', 'userinfo.error', 'server_error']) {
    provider.on(event, (_, error) => heard.push(`${event}: ${error?.error_description ?? error?.message}`))
  }
  server.on('request', provider.callback())
  try {
    return await use({ issuer, heard })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Passes the provider's own pages until the browser is here again. */
async function logInThere(page, issuer, name) {
  await page.waitForURL(`${issuer}/**`)
  await page.fill('input[name=login]', name)
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.waitForURL(`${issuer}/interaction/**`)
  await page.click('button[type=submit]')
}

test('a person of oidc-provider logs in, brings claims and groups, its logout ends the session here, and a logout here that there', (t) =>
  elsewhere(({ issuer, heard }) =>
    web(({ redirect, request, finish, config }) =>
      withBrowser(async (page) => {
        signet(['attribute', 'add', 'team', 'type=string'])
        signet(['group', 'add', 'guests', '--description', 'From elsewhere'])
        signet(
          [
            'provider', 'add', NAME, '--issuer', issuer, '--client-id', 'signet', '--client-secret-file', '-', 'label=Elsewhere', 'trust_email=true',
            'claims=[{"claim":"team.name","to":"team"},{"claim":"given_name","to":"nickname"}]',
            'groups=[{"claim":"roles","value":"staff","group":"guests"}]',
          ],
          `${SECRET}\n`,
        )
        t.after(() => signet(['provider', 'remove', NAME, '--yes']))
        await page.goto(await request())
        await shoot(page, 'provider-button')
        await decide(page, `"provider:${NAME}"`)
        await logInThere(page, issuer, 'greta')
        await arriveHere(page, redirect)
        const tokens = await finish(new URL(page.url()))
        assert.deepEqual(tokens.claims().amr, ['fed'])

        // A name that is made for somebody has a tail that nobody guesses.
        const [found] = JSON.parse(signet(['user', 'list', '--search', 'greta@elsewhere.example', '--json']))
        assert.match(found.username, /^greta.+/)
        const person = JSON.parse(signet(['user', 'show', found.username, '--json']))
        assert.equal(person.id, tokens.claims().sub)
        assert.deepEqual([person.email, person.email_verified], ['greta@elsewhere.example', true])
        assert.deepEqual([person.profile.nickname, person.profile.family_name], ['Greta', 'Elsewhere'])
        assert.deepEqual(person.attributes, { team: 'Orbit' })
        assert.deepEqual(person.groups, ['guests'])

        // A logout there: its own page, its own back channel.
        await page.goto(await request({ prompt: 'none' }))
        assert.ok(new URL(page.url()).searchParams.get('code'), 'the session is there before')
        await page.goto(`${issuer}/session/end`)
        await page.click('button[value=yes]')
        await page.waitForURL(`${issuer}/session/end/success**`)
        await page.goto(await request({ prompt: 'none' }))
        assert.equal(new URL(page.url()).searchParams.get('error'), 'login_required', heard.join('; '))
        assert.deepEqual(heard, ['backchannel.success'])

        // A logout here ends there: its own page asks, and leads back.
        signet(['provider', 'set', NAME, 'logout=true'])
        await page.goto(await request())
        await decide(page, `"provider:${NAME}"`)
        await logInThere(page, issuer, 'greta')
        await arriveHere(page, redirect)
        const again = await finish(new URL(page.url()))
        await page.goto(client.buildEndSessionUrl(config, { id_token_hint: again.id_token }).href)
        await page.waitForURL(`${issuer}/session/end?**`)
        await page.click('button[value=yes]')
        await page.waitForSelector('main#signed-out')
        assert.ok(page.url().startsWith(`${dev.issuer}/providers/${NAME}/logged-out?`))
        await page.goto(await request())
        await decide(page, `"provider:${NAME}"`)
        await page.waitForSelector('input[name=login]')
      }),
    ),
  ))

/** Waits for the way back to the application; what is asked on it is allowed. */
async function arriveHere(page, redirect) {
  for (let tries = 0; !page.url().startsWith(redirect); tries += 1) {
    if (tries > 200) throw new Error(`still at ${page.url().split('?')[0]}: ${await page.textContent('body')}`)
    const allow = page.locator('button[name=decision][value=allow]')
    if (page.url().startsWith(dev.issuer) && (await allow.count())) await allow.first().click().catch(() => {})
    await page.waitForTimeout(50)
  }
}
