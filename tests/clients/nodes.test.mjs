// Two development nodes of one installation, in a real browser: a passkey that was made at one port of the host is used at the other, whose pages have another origin.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { atAccount, decide, logIn, withBrowser } from './browser.mjs'

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const run = (program, args, more = {}) => {
  const done = spawnSync(program, args, { encoding: 'utf8', ...more })
  assert.equal(done.status, 0, `${program} ${args[0]}: ${done.stderr}`)
  return done.stdout.trim()
}

test('a passkey is used at another node of the same host', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signet-nodes-'))
  const children = []
  const node = async (name, more) => {
    const port = await freePort()
    const log = join(folder, `${name}.log`)
    const out = openSync(log, 'w')
    const child = spawn(process.env.SIGNET_BIN, ['serve', '--dev', '--listen', `127.0.0.1:${port}`, '--data-dir', join(folder, name), ...more], { stdio: ['ignore', out, out] })
    children.push(child)
    for (let i = 0; i < 300; i += 1) {
      // dev.json appears once the server answers, which may be a moment after its first answer.
      if (existsSync(join(folder, name, 'dev.json'))) {
        const ready = spawnSync('curl', ['-sf', '--cacert', join(folder, name, 'ca.pem'), `https://localhost:${port}/health/ready`])
        if (ready.status === 0) return { url: `https://localhost:${port}`, folder: join(folder, name) }
      }
      assert.equal(child.exitCode, null, readFileSync(log, 'utf8').slice(-2000))
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(readFileSync(log, 'utf8').slice(-2000))
  }
  try {
    const first = await node('first', [])
    const dev = JSON.parse(readFileSync(join(first.folder, 'dev.json'), 'utf8'))
    const invitation = run(process.env.SIGNET_BIN, ['node', 'invite', '--data-dir', first.folder], { env: { ...process.env, SIGNET_PASSWORD: dev.admin.password } })
    const second = await node('second', ['--join', invitation])
    const home = join(folder, 'home')
    mkdirSync(join(home, '.pki/nssdb'), { recursive: true })
    run('certutil', ['-d', `sql:${home}/.pki/nssdb`, '-N', '--empty-password'])
    for (const { folder } of [first, second]) run('certutil', ['-d', `sql:${home}/.pki/nssdb`, '-A', '-t', 'C,,', '-n', folder, '-i', join(folder, 'ca.pem')])
    await withBrowser(async (page) => {
      const cdp = await page.context().newCDPSession(page)
      await cdp.send('WebAuthn.enable', { enableUI: false })
      const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } })
      await page.addInitScript(() => { PublicKeyCredential.isConditionalMediationAvailable = async () => false })
      await page.goto(`${first.url}/account`)
      await page.waitForSelector('input[name=passkey_capable]', { state: 'attached' })
      await logIn(page, dev.user)
      await page.waitForSelector('button[value=later]')
      await decide(page, 'passkey-add')
      await atAccount(page)
      for (const { url } of [second, first]) {
        await page.context().clearCookies()
        await page.goto(`${url}/account`)
        await decide(page, 'passkey')
        await atAccount(page)
        assert.ok(page.url().startsWith(url), page.url())
      }
      const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
      assert.equal(credentials.length, 1)
      assert.ok(credentials[0].signCount >= 2)
    }, { env: { ...process.env, HOME: home } })
  } finally {
    for (const child of children.reverse()) {
      child.kill('SIGTERM')
      if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
    }
    rmSync(folder, { recursive: true, force: true })
  }
})
