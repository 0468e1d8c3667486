// A web application. npm install openid-client; node web.mjs; open http://127.0.0.1:3000/
import { createServer } from 'node:http'
import * as client from 'openid-client'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI = 'http://127.0.0.1:3000/callback' } = process.env
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET)
const redirect = new URL(REDIRECT_URI)

async function logIn(response) {
  const [state, verifier] = [client.randomState(), client.randomPKCECodeVerifier()]
  const code_challenge = await client.calculatePKCECodeChallenge(verifier)
  const request = { redirect_uri: REDIRECT_URI, scope: 'openid profile email', state, code_challenge, code_challenge_method: 'S256' }
  const location = client.buildAuthorizationUrl(config, request).href
  response.writeHead(302, { location, 'set-cookie': `login=${state}.${verifier}; HttpOnly; SameSite=Lax` }).end()
}

createServer(async (request, response) => {
  const url = new URL(request.url, redirect)
  if (url.pathname !== redirect.pathname) return logIn(response)
  try {
    const [, expectedState, pkceCodeVerifier] = /login=([\w-]+)\.([\w-]+)/.exec(request.headers.cookie)
    const tokens = await client.authorizationCodeGrant(config, url, { expectedState, pkceCodeVerifier })
    const person = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
    response.end(`Hello ${person.email}`)
  } catch (error) {
    response.writeHead(400).end(`The login failed: ${error.message}`)
  }
}).listen(redirect.port, '127.0.0.1')
