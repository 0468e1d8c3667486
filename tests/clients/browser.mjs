// A real browser for the tests: Debian's chromium, driven by playwright-core, trusting the development CA of BROWSER_HOME.
import { chromium } from 'playwright-core'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const dev = JSON.parse(readFileSync(process.env.SIGNET_DEV_JSON, 'utf8'))

/** Runs `use(page)` in a fresh profile and closes it whatever happens. */
export async function withBrowser(use, options = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'signet-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    env: { ...process.env, HOME: process.env.BROWSER_HOME },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ...options,
  })
  try {
    return await use(await context.newPage(), context)
  } finally {
    await context.close()
    rmSync(profile, { recursive: true, force: true })
  }
}

let shots = 0
/** A screenshot into SCREENSHOTS, numbered in the order of the run. */
export async function shoot(page, name) {
  shots += 1
  const file = `${String(process.pid)}-${String(shots).padStart(2, '0')}-${name}.png`
  await page.screenshot({ path: join(process.env.SCREENSHOTS, file), fullPage: true })
}

/** Runs `signet` as the administrator and gives its output. */
export function signet(args, input = '') {
  const env = { ...process.env, SIGNET_PASSWORD: dev.admin.password }
  const done = spawnSync(process.env.SIGNET_BIN, [...args, '--data-dir', dirname(process.env.SIGNET_DEV_JSON)], { input, env, encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`signet ${args.join(' ')}: ${done.stderr}`)
  return done.stdout
}

/** An account of its own for a test. */
export const addPerson = ({ username, password, email = `${username}@example.test` }) =>
  signet(['user', 'add', username, '--email', email, '--password-stdin'], `${password}\n`)

/** Presses a button of the login or consent page. */
export const decide = (page, value) => page.click(`button[name=decision][value=${value}]`)

/** Waits for the account page. */
export const atAccount = (page) => page.waitForSelector('nav.tabs')

/** Turns to a part of the account page: profile, security, devices, applications, data, advanced, or main for all. */
export async function turnTo(page, part) {
  await page.click(`nav.tabs a[href="#${part}"]`)
  await page.waitForSelector(`#${part}`)
}

/** Presses a button of the account page, in its dialog where one asks again. */
export async function act(page, within, decision) {
  const button = within.locator(`button[name=decision][value=${decision}]`)
  const dialog = within.locator('[popover]', { has: page.locator(`button[value=${decision}]`) })
  if (await dialog.count()) await within.locator(`button[popovertarget="${await dialog.getAttribute('id')}"]`).first().click()
  await button.click()
}

/** Fills the login page as a person would. */
export async function logIn(page, { username, password } = dev.user) {
  await page.fill('input[name=username]', username)
  await page.fill('input[name=password]', password)
  await decide(page, 'allow')
}

/** Waits until the page is at `prefix`, allowing consent when it is asked for. */
export async function arrive(page, prefix, name) {
  const start = Date.now()
  while (!page.url().startsWith(prefix)) {
    if (Date.now() - start > 20000) throw new Error(`still at ${page.url().split('?')[0]}: ${await page.textContent('body')}`)
    const allow = page.locator('button[name=decision][value=allow]')
    if (!(await page.locator('input[name=password]').count()) && (await allow.count())) {
      if (name) await shoot(page, name)
      await allow.click().catch(() => {})
    }
    await page.waitForTimeout(50)
  }
  return new URL(page.url())
}
