// A single page, in a bundler's project (npm create vite, say). npm install oidc-client-ts
import { UserManager } from 'oidc-client-ts'

const users = new UserManager({
  authority: 'https://localhost:8443',
  client_id: 'CLIENT_ID',
  redirect_uri: `${location.origin}/callback`,
  scope: 'openid profile email',
})

// Back from the login: the code becomes tokens, and leaves the address bar.
if (location.pathname === '/callback') {
  await users.signinRedirectCallback()
  history.replaceState(null, '', '/')
}

const user = await users.getUser()
if (user === null) await users.signinRedirect()
else document.body.textContent = `Hello ${user.profile.sub}`

// A call to an API: fetch(url, { headers: { authorization: `Bearer ${user.access_token}` } })
