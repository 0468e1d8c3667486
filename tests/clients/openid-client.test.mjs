// openid-client, unmodified, with a real browser: discovery, registration, code + PKCE, refresh, userinfo, silent re-login.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import * as client from 'openid-client'
import { arrive, decide, dev, logIn, shoot, withBrowser } from './browser.mjs'

/** A relying party's redirect endpoint on a free loopback port. */
async function relyingParty(use) {
  const server = createServer((_, response) => response.end('<!doctype html><title>back</title>Back at the application.'))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await use(`http://127.0.0.1:${server.address().port}/callback`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function register(redirect, metadata = {}, authentication = undefined) {
  return client.dynamicClientRegistration(
    new URL(dev.issuer),
    {
      client_name: 'openid-client',
      application_type: 'native',
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: [redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'openid profile email offline_access',
      ...metadata,
    },
    authentication,
  )
}

/** Starts a request; the answer has the URL to open and what finishing the flow needs. */
async function start(config, redirect, parameters = {}) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const expectedNonce = client.randomNonce()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirect,
    scope: 'openid profile email offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
    ...parameters,
  })
  return { url, checks: { pkceCodeVerifier, expectedState, expectedNonce } }
}

test('a registered client logs in, refreshes, reads userinfo and logs in silently', () =>
  relyingParty((redirect) =>
    withBrowser(async (page) => {
      const config = await register(redirect)
      const first = await start(config, redirect, { prompt: 'consent' })
      await page.goto(first.url.href)
      await shoot(page, 'login')
      await logIn(page)
      const back = await arrive(page, redirect, 'consent')
      assert.equal(back.searchParams.get('iss'), dev.issuer)
      const tokens = await client.authorizationCodeGrant(config, back, first.checks)
      const { sub } = tokens.claims()

      const userinfo = await client.fetchUserInfo(config, tokens.access_token, sub)
      assert.equal(userinfo.email, dev.user.email)

      const renewed = await client.refreshTokenGrant(config, tokens.refresh_token)
      assert.notEqual(renewed.access_token, tokens.access_token)
      await client.fetchUserInfo(config, renewed.access_token, sub)

      const silent = await start(config, redirect, { prompt: 'none', scope: 'openid profile email' })
      await page.goto(silent.url.href)
      const again = await client.authorizationCodeGrant(config, new URL(page.url()), silent.checks)
      assert.equal(again.claims().sub, sub)
    }),
  ))

test('DPoP binds the tokens of a pushed request to the key', () =>
  relyingParty((redirect) =>
    withBrowser(async (page) => {
      const config = await register(redirect, { dpop_bound_access_tokens: true, require_pushed_authorization_requests: true })
      const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
      const { url, checks } = await start(config, redirect)
      const pushed = await client.buildAuthorizationUrlWithPAR(config, url.searchParams, { DPoP })
      assert.match(pushed.searchParams.get('request_uri'), /^urn:ietf:params:oauth:request_uri:/)
      await page.goto(pushed.href)
      await logIn(page)
      const tokens = await client.authorizationCodeGrant(config, await arrive(page, redirect), checks, undefined, { DPoP })
      assert.equal(tokens.token_type, 'dpop')
      const { sub } = tokens.claims()
      await client.fetchUserInfo(config, tokens.access_token, sub, { DPoP })
      await assert.rejects(client.fetchUserInfo(config, tokens.access_token, sub))
    }),
  ))

test('private_key_jwt with a registered key set', async () => {
  const { publicKey, privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const jwk = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid: 'one', use: 'sig', alg: 'ES256' }
  delete jwk.key_ops
  delete jwk.ext
  await relyingParty((redirect) =>
    withBrowser(async (page) => {
      const config = await register(
        redirect,
        { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'ES256', jwks: { keys: [jwk] } },
        client.PrivateKeyJwt({ key: privateKey, kid: 'one' }),
      )
      const { url, checks } = await start(config, redirect)
      await page.goto(url.href)
      await logIn(page)
      const tokens = await client.authorizationCodeGrant(config, await arrive(page, redirect), checks)
      assert.ok(tokens.id_token)
    }),
  )
})

test('the service client gets a token, exchanges it, introspects it and revokes it', async () => {
  const { client_id, client_secret } = dev.clients.service
  const config = await client.discovery(new URL(dev.issuer), client_id, undefined, client.ClientSecretBasic(client_secret))
  const token = await client.clientCredentialsGrant(config)
  assert.equal((await client.tokenIntrospection(config, token.access_token)).active, true)
  const exchanged = await client.genericGrantRequest(config, 'urn:ietf:params:oauth:grant-type:token-exchange', {
    subject_token: token.access_token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  })
  assert.equal(exchanged.issued_token_type, 'urn:ietf:params:oauth:token-type:access_token')
  await client.tokenRevocation(config, token.access_token)
  assert.equal((await client.tokenIntrospection(config, token.access_token)).active, false)
})

test('a device logs in through the page that a person opens elsewhere', () =>
  withBrowser(async (page) => {
    const { client_id, client_secret } = dev.clients.web
    const config = await client.discovery(new URL(dev.issuer), client_id, undefined, client.ClientSecretBasic(client_secret))
    const device = await client.initiateDeviceAuthorization(config, { scope: 'openid profile' })
    const polled = client.pollDeviceAuthorizationGrant(config, device)
    await page.goto(device.verification_uri_complete ?? device.verification_uri)
    await shoot(page, 'device')
    for (let step = 0; step < 6 && (await page.locator('button[name=decision][value=allow]').count()); step += 1) {
      if (await page.locator('input[name=password]').count()) await logIn(page)
      else await decide(page, 'allow')
      await page.waitForLoadState()
      await shoot(page, `device-step-${step}`)
    }
    const tokens = await polled
    assert.ok(tokens.access_token)
  }))
