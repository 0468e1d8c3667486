// The `web` client of the development server, its loopback redirect on a free port.
import { createServer } from 'node:http'
import * as client from 'openid-client'
import { dev } from './browser.mjs'

export async function web(use) {
  const server = createServer((_, response) => response.end('<!doctype html><title>back</title>Back.'))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { client_id, client_secret, redirect_uris } = dev.clients.web
  const redirect = new URL(redirect_uris[0])
  redirect.port = String(server.address().port)
  try {
    const config = await client.discovery(new URL(dev.issuer), client_id, undefined, client.ClientSecretBasic(client_secret))
    const verifier = client.randomPKCECodeVerifier()
    const request = async (more = {}) =>
      client.buildAuthorizationUrl(config, {
        redirect_uri: redirect.href,
        scope: 'openid profile email',
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: 'state-1',
        ...more,
      }).href
    const finish = (url) => client.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier, expectedState: 'state-1' })
    return await use({ config, redirect: redirect.href, request, finish })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
