// A relying party nobody here wrote: Apache with Debian's mod_auth_openidc, and a person who opens a protected page.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { arrive, dev, logIn, shoot, withBrowser } from './browser.mjs'

const directory = process.env.APACHE_DIR

// Apache takes no socket that is open already. A port that somebody else took in between shows at once, and is another try.
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

function configuration(port) {
  const modules = '/usr/lib/apache2/modules'
  const redirect = new URL(dev.clients.web.redirect_uris[0])
  redirect.port = port
  mkdirSync(join(directory, 'htdocs'), { recursive: true })
  chmodSync(directory, 0o777)
  writeFileSync(join(directory, 'htdocs/index.html'), '<!doctype html><title>protected</title><main id="protected">The protected page.</main>')
  writeFileSync(join(directory, 'mime.types'), 'text/html html\n')
  // Apache's own user may not look into the server's data directory.
  copyFileSync(dev.ca_cert, join(directory, 'ca.pem'))
  chmodSync(join(directory, 'ca.pem'), 0o644)
  const file = join(directory, 'apache.conf')
  writeFileSync(file, `
ServerRoot ${directory}
ServerName 127.0.0.1
PidFile ${directory}/apache.pid
Listen 127.0.0.1:${port}
ErrorLog ${directory}/error.log
LoadModule mpm_event_module ${modules}/mod_mpm_event.so
LoadModule authn_core_module ${modules}/mod_authn_core.so
LoadModule authz_core_module ${modules}/mod_authz_core.so
LoadModule authz_user_module ${modules}/mod_authz_user.so
LoadModule dir_module ${modules}/mod_dir.so
LoadModule mime_module ${modules}/mod_mime.so
LoadModule auth_openidc_module ${modules}/mod_auth_openidc.so
TypesConfig ${directory}/mime.types
${process.getuid() === 0 ? 'User www-data\nGroup www-data' : ''}
DocumentRoot ${directory}/htdocs
OIDCProviderMetadataURL ${dev.issuer}/.well-known/openid-configuration
OIDCClientID ${dev.clients.web.client_id}
OIDCClientSecret ${dev.clients.web.client_secret}
OIDCProviderTokenEndpointAuth client_secret_basic
OIDCRedirectURI ${redirect.href}
OIDCCryptoPassphrase ${randomBytes(32).toString('hex')}
OIDCCABundlePath ${directory}/ca.pem
OIDCPKCEMethod S256
OIDCScope "openid profile email"
OIDCInfoHook userinfo id_token
<Directory ${directory}/htdocs>
  AuthType openid-connect
  Require valid-user
</Directory>
<Location ${redirect.pathname}>
  AuthType openid-connect
  Require valid-user
</Location>
`)
  return { file, redirect: redirect.href }
}

// Whether Apache answers within ten seconds, and has not ended.
async function answering(base, apache) {
  for (let i = 0; i < 100 && apache.exitCode === null; i += 1) {
    try {
      await fetch(base, { redirect: 'manual' })
      return true
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  return false
}

test('a person opens a page that Apache protects, and is logged in by Signet', async () => {
  let apache, ended, base, redirect
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort()
    const made = configuration(port)
    redirect = made.redirect
    base = `http://127.0.0.1:${port}`
    apache = spawn('/usr/sbin/apache2', ['-DFOREGROUND', '-f', made.file], { stdio: ['ignore', 'inherit', 'inherit'] })
    ended = once(apache, 'exit')
    const answers = await answering(base, apache)
    if (answers) break
    apache.kill('SIGTERM')
    await ended
    if (attempt === 5) throw new Error('Apache does not answer')
  }
  try {
    await withBrowser(async (page) => {
      await page.goto(base)
      await logIn(page)
      await arrive(page, base)
      await page.waitForSelector('main#protected')
      await shoot(page, 'apache')
      await page.goto(`${redirect}?info=json`)
      const info = JSON.parse(await page.textContent('body'))
      assert.equal(info.userinfo.email, dev.user.email)
      assert.equal(info.id_token.iss, dev.issuer)
    })
  } finally {
    apache.kill('SIGTERM')
    await ended
  }
})
