// The programs of docs/connect.md, as they stand there, with the client that `signet client add` makes for them.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, copyFileSync, symlinkSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { arrive, dev, logIn, signet, withBrowser } from './browser.mjs'

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/** Waits until something listens. */
async function listening(url) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await fetch(url, { redirect: 'manual' }).catch(() => null)) return
    await new Promise((done) => setTimeout(done, 50))
  }
  throw new Error(`nothing listens at ${url}`)
}

/** Runs a command line with a client's variables for as long as `use` takes. */
async function running(command, args, made, more, use) {
  const env = { ...process.env, ISSUER: dev.issuer, CLIENT_ID: made.client_id, CLIENT_SECRET: made.client_secret, ...more }
  const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  try {
    return await use()
  } finally {
    child.kill()
  }
}

async function logsIn(command, args) {
  const redirect = `http://127.0.0.1:${await freePort()}/callback`
  const made = JSON.parse(signet(['client', 'add', '--web', '--redirect-uri', redirect, '--json']))
  await running(command, args, made, { REDIRECT_URI: redirect }, async () => {
    await listening(redirect)
    await withBrowser(async (page) => {
      await page.goto(new URL('/', redirect).href)
      await logIn(page)
      await arrive(page, redirect)
      assert.match(await page.textContent('body'), new RegExp(`Hello ${dev.user.email}`))
    })
  })
}

test('the web application in Node logs a person in', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signet-connect-'))
  try {
    copyFileSync('../../docs/connect/web.mjs', join(folder, 'web.mjs'))
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    await logsIn(process.execPath, [join(folder, 'web.mjs')])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the web application in Python logs a person in', () => logsIn('.venv/bin/python', ['../../docs/connect/web.py']))

test('what client add prints for a kind is a program with its client', () => {
  const lines = signet(['client', 'add', '--web', '--redirect-uri', 'http://127.0.0.1:3000/callback'])
  assert.match(lines, new RegExp(`export ISSUER='${dev.issuer}'`))
  assert.match(lines, /export CLIENT_SECRET='[\w-]{20,}'/)
  assert.match(lines, /from 'openid-client'/)
})
