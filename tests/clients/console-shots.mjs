// Pictures of every view of the console, for docs/console.md: a development server is filled, and each view is drawn in the light and
// in the dark scheme, and on a telephone. scripts/console-screenshots.sh runs it.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decide, dev, logIn, signet, withBrowser } from './browser.mjs'
import { codeOf, now } from './totp.mjs'

const out = process.env.SHOTS
const at = (below) => `${dev.issuer}/console${below}`
const only = (process.env.ONLY ?? '').split(',').filter(Boolean)

const PEOPLE = `Ada Lovelace,Alan Turing,Barbara Liskov,Dennis Ritchie,Donald Knuth,Edsger Dijkstra,Frances Allen,Grace Hopper,Hedy Lamarr,Ivan Sutherland,Jean Bartik,John Backus,Joan Clarke,Karen Jones,Katherine Johnson,Ken Thompson,Leslie Lamport,Lynn Conway,Margaret Hamilton,Mary Jackson,Niklaus Wirth,Radia Perlman,Robin Milner,Shafi Goldwasser,Sophie Wilson,Tony Hoare,Whitfield Diffie,Adele Goldberg,Annie Easley,Betty Holberton,Charles Bachman,Dorothy Vaughan,Evelyn Boyd,Fernando Corbato,Gladys West,Ida Rhodes,Jim Gray,Juris Hartmanis,Kathleen Booth,Klara Neumann`.split(',')
const GROUPS = ['engineering', 'support', 'finance', 'people-and-culture']
const PASSWORD = 'a calm set of words'

/** What a company of forty has, declared. */
function declarations() {
  const folder = mkdtempSync(join(tmpdir(), 'signet-declared-'))
  const text = (value) => JSON.stringify(value)
  const lines = ['[[roles]]', 'name = "orders.reader"', 'description = "Sees orders"', '[[roles]]', 'name = "orders.editor"', 'description = "Changes orders"', '[[roles]]', 'name = "invoices.approver"', 'description = "Approves invoices"']
  for (const [name, description] of [['orders:read', 'See your orders'], ['orders:write', 'Change your orders'], ['invoices', 'See your invoices']]) lines.push('[[scopes]]', `name = ${text(name)}`, `description = ${text(description)}`)
  for (const [name, roles] of [['engineering', ['orders.editor']], ['support', ['orders.reader']], ['finance', ['invoices.approver']], ['people-and-culture', []]]) lines.push('[[groups]]', `name = ${text(name)}`, `roles = ${text(roles)}`)
  for (const [id, name, uri] of [['shop', 'Web shop', 'https://shop.example.com/callback'], ['backoffice', 'Back office', 'https://office.example.com/signin'], ['wiki', 'Wiki', 'https://wiki.example.com/oauth/callback'], ['grafana', 'Grafana', 'https://grafana.example.com/login/generic_oauth'], ['helpdesk', 'Help desk', 'https://help.example.com/auth/return']]) {
    lines.push('[[clients]]', `client_id = ${text(id)}`, `client_name = ${text(name)}`, `redirect_uris = [${text(uri)}]`, 'scope = "openid profile email offline_access orders:read"', 'grant_types = ["authorization_code", "refresh_token"]', `client_secret = { generate = ${text(`secrets/${id}`)} }`)
  }
  for (const [id, name] of [['https://catalog.example.com', 'Catalog'], ['https://invoices.example.com', 'Invoices']]) lines.push('[[resources]]', `identifier = ${text(id)}`, `name = ${text(name)}`, 'scope = "orders:read orders:write"')
  lines.push('[[rules]]', 'name = "finance-alone"', 'effect = "deny"', 'clients = ["backoffice"]', 'description = "The back office is for finance"', '[rules.except]', 'groups = ["finance"]')
  lines.push('[[rules]]', 'name = "no-writes-from-support"', 'effect = "deny"', 'groups = ["support"]', 'scopes = ["orders:write"]', 'description = "Support looks, and changes nothing"')
  lines.push('[[realms]]', 'name = "acme"', `issuer = ${text(`${dev.issuer}/acme`)}`, '[[realms]]', 'name = "staging"', `issuer = ${text(`${dev.issuer}/staging`)}`)
  PEOPLE.forEach((name, index) => {
    const [given, family] = name.split(' ')
    const username = `${given}.${family}`.toLowerCase()
    lines.push('[[users]]', `username = ${text(username)}`, `email = ${text(`${username}@example.com`)}`, `groups = [${text(GROUPS[index % 4])}]`)
    if (index % 13 === 7) lines.push('enabled = false')
    lines.push('[users.profile]', `name = ${text(name)}`, `given_name = ${text(given)}`, `family_name = ${text(family)}`)
  })
  writeFileSync(join(folder, 'company.toml'), `${lines.join('\n')}\n`)
  writeFileSync(join(folder, 'signet-directory.toml'), 'directory = "company"\n')
  return folder
}

function quietly(args, input = '') {
  const env = { ...process.env, SIGNET_PASSWORD: PASSWORD }
  const done = spawnSync(process.env.SIGNET_BIN, [...args, '--data-dir', process.env.SIGNET_DATA], { input, env, encoding: 'utf8' })
  if (done.status !== 0 && process.env.VERBOSE) console.error(args.join(' '), done.stderr)
  return done.status === 0
}

function fill() {
  signet(['apply', declarations(), '--yes'])
  const active = ['barbara.liskov', 'alan.turing', 'radia.perlman', 'lynn.conway']
  signet(['user', 'add', 'sofia.kovalevskaya', '--email', 'sofia@example.com', '--password-stdin'], `${PASSWORD}\n`)
  signet(['user', 'set', 'sofia.kovalevskaya', 'name=Sofia Kovalevskaya'])
  for (let round = 0; round < 12; round += 1) quietly(['dev', 'token'])
  for (let round = 0; round < 4; round += 1) quietly(['dev', 'token', '--client', 'web', '--user', 'sofia.kovalevskaya'])
  quietly(['dev', 'token', '--client', 'web', '--user', 'alice'])
  for (const name of active) quietly(['user', 'invite', name])
}

/** A person of the test's own, who administers, and logs in with two factors. */
async function enter(page) {
  signet(['user', 'add', 'mira.chen', '--admin', '--email', 'mira.chen@example.com', '--password-stdin'], `${PASSWORD}\n`)
  await page.goto(at(''))
  await logIn(page, { username: 'mira.chen', password: PASSWORD })
  await page.waitForSelector('#totp-secret', { state: 'attached' })
  const secret = (await page.textContent('#totp-secret')).replace(/\s/g, '')
  await page.fill('input[name=totp]', codeOf(secret, now()))
  await decide(page, 'totp-add')
  await page.waitForLoadState()
  if (await page.locator('button[value=later]').count()) await decide(page, 'later')
  await page.waitForURL((url) => url.pathname.startsWith('/console'))
}

async function refusals(page) {
  for (let round = 0; round < 2; round += 1) {
    await page.request.post(`${dev.issuer}/token`, { form: { grant_type: 'client_credentials', client_id: 'shop', client_secret: 'wrong' }, ignoreHTTPSErrors: true })
  }
}

/** A chain of agents as the console shows it needs agents: two of them are registered. */
async function agents(page) {
  const folder = mkdtempSync(join(tmpdir(), 'signet-agents-'))
  for (const name of ['order-watcher', 'invoice-reader']) {
    const env = { ...process.env, SIGNET_PASSPHRASE: 'a passphrase for pictures' }
    const file = join(folder, `${name}.aid`)
    spawnSync(process.env.SIGNET_BIN, ['agent', 'create', '--name', name, '--out', file], { env })
    const shown = spawnSync(process.env.SIGNET_BIN, ['agent', 'show', '--document', file], { env, encoding: 'utf8' })
    await page.goto(at('/do/registerAgent'))
    await page.fill('[name="b.document"]', shown.stdout)
    await page.click('.sheet button[type=submit]')
    await page.waitForLoadState()
  }
}

const VIEWS = [
  ['overview', ''], ['people', '/users'], ['person', null], ['groups', '/groups'], ['roles', '/roles'], ['rules', '/rules'],
  ['explain', '/explain?user=grace.hopper&client=backoffice&scope=openid'], ['clients', '/clients'], ['wizard', '/wizard'], ['wizard-answers', '/wizard?kind=web'],
  ['connection', '/connection/shop'], ['client', '/clients/shop'], ['edit', '/do/replaceClient?p.client_id=shop'], ['resources', '/resources'], ['scopes', '/scopes'], ['providers', '/providers'],
  ['sessions', '/sessions'], ['agents', '/agents'], ['token', '/token'], ['mail', '/mail'], ['audit', '/audit?verify=1'], ['keys', '/keys'],
  ['cluster', '/cluster'], ['realms', '/realms'], ['brand', '/brand?name=Example&accent=%231a5fb4&accent_dark=%2378aeed&background=%23f4f5f7'], ['settings', '/settings?q=lifetimes'],
  ['drift', '/drift'], ['operations', '/operations'],
]

async function draw(page, name, kind) {
  const cdp = await page.context().newCDPSession(page)
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: kind === 'phone' ? 60 : 66 })
  writeFileSync(join(out, `${name}-${kind}.webp`), Buffer.from(data, 'base64'))
  if (process.env.PNG) {
    const png = await cdp.send('Page.captureScreenshot', { format: 'png' })
    writeFileSync(join(process.env.PNG, `${name}-${kind}.png`), Buffer.from(png.data, 'base64'))
  }
  await cdp.detach()
}

mkdirSync(out, { recursive: true })
await withBrowser(async (page) => {
  if (!process.env.FILLED) fill()
  await enter(page)
  if (!process.env.FILLED) await agents(page)
  await refusals(page)
  // The overview last: by then there is something to see in its charts.
  const views = [...VIEWS.slice(1), VIEWS[0]]
  for (const [index, [name, below]] of views.entries()) {
    for (let round = (index * 7) % 5; round > 0; round -= 1) quietly(['dev', 'token'])
    if (index % 3 === 0) quietly(['dev', 'token', '--client', 'web', '--user', 'sofia.kovalevskaya'])
    if (index % 4 === 1) await refusals(page)
    if (only.length && !only.includes(name)) continue
    let place = below
    if (place === null) {
      await page.goto(at('/users?q=sofia'))
      place = (await page.getAttribute('main tbody th a', 'href')).split('/console')[1]
    }
    for (const [kind, colorScheme, size] of [['light', 'light', { width: 1280, height: 860 }], ['dark', 'dark', { width: 1280, height: 860 }], ['phone', 'light', { width: 390, height: 844 }]]) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      await page.goto(at(place))
      await page.waitForTimeout(150)
      await draw(page, name, kind)
    }
    await page.setViewportSize({ width: 1280, height: 860 })
  }
})
