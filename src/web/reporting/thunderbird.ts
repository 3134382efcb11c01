import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Router } from 'express'
import { ZipFile } from 'yazl'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'

const root = path.join(import.meta.dirname, '../../..')
const folder = path.join(root, 'clients/thunderbird')

const ADD_ON = 'signalpost-thunderbird.xpi'

/** Serves the page about the add-on, and the add-on with the address of this service. */
export function thunderbirdRoutes({ publicUrl }: Pick<Site, 'publicUrl'>): Router {
  const router = Router()
  let built: Promise<Buffer> | undefined
  router.get('/thunderbird', (req, res) => {
    sendPage(req, res, {
      view: 'pages/thunderbird',
      title: visitOf(req).texts('thunderbird.title'),
    })
  })
  router.get(`/thunderbird/${ADD_ON}`, async (_req, res) => {
    res.setHeader('content-type', 'application/x-xpinstall')
    // Browsers that install add-ons of their own must store it, not install it.
    res.setHeader('content-disposition', `attachment; filename="${ADD_ON}"`)
    res.setHeader('cache-control', 'public, max-age=3600')
    // It takes some milliseconds, and is the same for everyone.
    built ??= buildThunderbird(publicUrl)
    res.end(await built)
  })
  return router
}

/**
 * The add-on for Thunderbird as a file to install. The address of a service is what new users find
 * in its settings. The same sources and address give the same bytes.
 */
export async function buildThunderbird(server = ''): Promise<Buffer> {
  const files = await thunderbirdFiles(server)
  const zip = new ZipFile()
  for (const [name, text] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    // The format stores local time without a zone.
    const mtime = new Date(2000, 0, 1)
    zip.addBuffer(Buffer.from(text), name, { mtime, mode: 0o100644, forceDosTimestamp: true })
  }
  zip.end()
  return buffer(zip.outputStream)
}

/** Returns the text of each file of the add-on. */
export async function thunderbirdFiles(server = ''): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const name of await readdir(folder)) {
    const read = () => readFile(path.join(folder, name), 'utf8')
    if (/\.(html|css)$/.test(name)) files.set(name, await read())
    else if (/(?<!\.d)\.ts$/.test(name)) {
      const code = toJavaScript(await read()).replace("'{server}'", JSON.stringify(server))
      files.set(name.replace(/\.ts$/, '.js'), code)
    }
  }
  const manifest = await readJson<object>(path.join(folder, 'manifest.json'))
  const { version } = await readJson<{ version: string }>(path.join(root, 'package.json'))
  files.set('manifest.json', JSON.stringify({ ...manifest, version }, null, 2))
  for (const name of await readdir(path.join(folder, 'locales'))) {
    const texts = await readJson<Record<string, string>>(path.join(folder, 'locales', name))
    files.set(`_locales/${path.parse(name).name}/messages.json`, JSON.stringify(messagesOf(texts)))
  }
  const icon = path.join(import.meta.dirname, '../views/public/icon.svg')
  files.set('icon.svg', await readFile(icon, 'utf8'))
  files.set('LICENSE', await readFile(path.join(root, 'LICENSE'), 'utf8'))
  return files
}

/** Removes the types and changes the imports accordingly; lines and columns stay. */
function toJavaScript(text: string): string {
  return stripTypeScriptTypes(text).replace(/(?<= from '\.\/[a-z-]+\.)ts(?=')/g, 'js')
}

function messagesOf(texts: Record<string, string>) {
  return Object.fromEntries(Object.entries(texts).map(([name, message]) => [name, { message }]))
}

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T
}
