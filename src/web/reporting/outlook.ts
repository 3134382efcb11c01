import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Response, Router } from 'express'
import { ZipFile } from 'yazl'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'

const folder = path.join(import.meta.dirname, '../../../clients/outlook')
const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string }

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
}

const PACKAGE = 'signalpost-outlook.zip'
const served = [
  ...['commands.html', 'settings.html', 'settings.css', 'settings.js', 'report.js'],
  ...['icon-16.png', 'icon-32.png', 'icon-80.png'],
]

/** The pages of Outlook that show the pages of an add-in in a frame. */
const outlookPages = [
  ...['https://outlook.office.com', 'https://outlook.office365.com', 'https://outlook.live.com'],
  ...['https://outlook.cloud.microsoft', 'https://*.cloud.microsoft', 'https://*.office.com'],
]

/** Pages inside Outlook need its library, which may only be loaded from its publisher. */
const policyInOutlook = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self' https://appsforoffice.microsoft.com",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  `frame-ancestors ${outlookPages.join(' ')}`,
].join('; ')

/**
 * Serves what Outlook loads (the event script, the page of settings, icons, and the list of scripts
 * that may ask this server) and the package to install. None of it uses cookies.
 */
export function outlookFiles({ publicUrl }: Pick<Site, 'publicUrl'>): Router {
  const router = Router()
  router.get('/outlook/:file', async (req, res, next) => {
    const { file } = req.params
    if (file === PACKAGE && publicUrl.startsWith('https:')) {
      res.setHeader('content-disposition', `attachment; filename="${PACKAGE}"`)
      return send(res, 'application/zip', await buildOutlook(publicUrl))
    }
    if (!served.includes(file)) return next()
    const type = types[path.extname(file)] ?? ''
    if (type === types['.html']) res.setHeader('content-security-policy', policyInOutlook)
    const content = await readFile(path.join(folder, file))
    const isScript = file === 'report.js'
    send(res, type, isScript ? content.toString().replace('{server}', publicUrl) : content)
  })
  router.get('/.well-known/microsoft-officeaddins-allowed.json', (_req, res) => {
    const allowed = [`${publicUrl}/outlook/report.js`]
    send(res, 'application/json', JSON.stringify({ allowed }))
  })
  return router
}

export function outlookRoutes({ publicUrl }: Pick<Site, 'publicUrl'>): Router {
  const router = Router()
  router.get('/outlook', (req, res) => {
    const title = visitOf(req).texts('outlook.title')
    const data = { isSecure: publicUrl.startsWith('https:') }
    sendPage(req, res, { view: 'pages/outlook', title, data })
  })
  return router
}

function send(res: Response, type: string, content: Buffer | string): void {
  res.setHeader('content-type', type)
  res.setHeader('cache-control', 'public, max-age=3600')
  res.end(content)
}

/**
 * Returns the package to install in Microsoft 365, for the service at an https address. The same
 * address and version give the same bytes.
 */
export async function buildOutlook(publicUrl: string): Promise<Buffer> {
  const { host } = new URL(publicUrl)
  // The name of a publisher has at most 32 characters.
  const name = host.slice(0, 32)
  const names = { server: publicUrl, host, name, version, id: idOf(publicUrl) }
  const zip = new ZipFile()
  for (const [name, source] of [
    ['manifest.json', 'manifest.json'],
    ['fr.json', 'locales/fr.json'],
    ['ru.json', 'locales/ru.json'],
    ['color.png', 'color.png'],
    ['outline.png', 'outline.png'],
  ] as const) {
    const read = await readFile(path.join(folder, source))
    const content = name.endsWith('.json') ? Buffer.from(filled(read.toString(), names)) : read
    // The format stores local time without a zone.
    const mtime = new Date(2000, 0, 1)
    zip.addBuffer(content, name, { mtime, mode: 0o100644, forceDosTimestamp: true })
  }
  zip.end()
  return buffer(zip.outputStream)
}

function filled(text: string, names: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\{(server|host|name|version|id)\}/g,
    (_, name: string) => names[name] ?? '',
  )
}

/** Microsoft 365 recognizes the add-in of a service by its id, which its address determines. */
function idOf(publicUrl: string): string {
  const digits = createHash('sha256').update(`signalpost-outlook ${publicUrl}`).digest('hex')
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5')
}
