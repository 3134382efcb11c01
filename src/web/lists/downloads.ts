import { type FileHandle, open, readFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import {
  fileNamesOf,
  listCategories,
  listCodes,
  listFileNames,
  listNames,
  MANIFEST,
} from '../../verdict/lists/list.ts'
import { sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'config'>

const FRESH_SECONDS = 300
const manifestSchema = z.object({
  generated_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  lists: z.record(z.string(), z.object({ zone: z.string(), entries: z.number() })),
})

/** The list downloads: public if configured, otherwise for people with a role. */
export function downloadRoutes(site: Needs): Router {
  const router = Router()
  router.get('/lists', (req, res) => {
    requireAccess(req, site)
    return sendLists(req, res, site)
  })
  router.get('/lists/:file', (req, res) => {
    requireAccess(req, site)
    return sendFile(req, res, site, req.params.file)
  })
  return router
}

function requireAccess(req: Request, { config }: Needs): void {
  if (config.listsArePublic || requireReporter(req).role !== null) return
  throw new ProblemError('not-allowed', 'These lists are not public.')
}

async function sendLists(req: Request, res: Response, { config }: Needs): Promise<void> {
  const { texts } = visitOf(req)
  const manifest = await readManifest(config.listsDir)
  const lists = listNames.map((list) => ({
    name: texts(`lists.names.${list}`),
    files: fileNamesOf(list),
    ...manifest?.lists[list],
  }))
  const codes = listCategories.map((category) => ({
    code: listCodes[category],
    meaning: texts(`lists.downloads.meanings.${category}`),
  }))
  const data = { manifest, lists, codes, manifestName: MANIFEST }
  sendPage(req, res, { view: 'pages/lists', title: texts('lists.downloads.title'), data })
}

async function readManifest(folder: string) {
  const text = await readFile(path.join(folder, MANIFEST), 'utf8').catch(absent)
  return text === undefined ? undefined : manifestSchema.parse(JSON.parse(text))
}

/** Sends a list from one open file, so that a new edition does not affect a running download. */
async function sendFile(
  req: Request,
  res: Response,
  { config }: Needs,
  name: string,
): Promise<void> {
  if (!listFileNames.includes(name)) throw new ProblemError('not-found', 'List not found.')
  const handle = await open(path.join(config.listsDir, name)).catch(absent)
  if (!handle) throw new ProblemError('not-found', 'This list has not been published yet.')
  try {
    await sendOpen(req, res, handle, {
      name,
      caching: config.listsArePublic ? 'public' : 'private',
    })
  } finally {
    await handle.close()
  }
}

async function sendOpen(
  req: Request,
  res: Response,
  handle: FileHandle,
  { name, caching }: { name: string; caching: 'public' | 'private' },
): Promise<void> {
  const { size, mtime, ino } = await handle.stat()
  const etag = `"${[mtime.getTime(), size, ino].map((part) => part.toString(36)).join('-')}"`
  res.setHeader('etag', etag)
  res.setHeader('last-modified', mtime.toUTCString())
  res.setHeader('cache-control', `${caching}, max-age=${FRESH_SECONDS}`)
  if (isKnown(req, etag, mtime)) return void res.status(304).end()
  const type = name.endsWith('.json') ? 'application/json' : 'text/plain'
  res.setHeader('content-type', `${type}; charset=utf-8`)
  res.setHeader('content-length', size)
  if (req.method === 'HEAD' || size === 0) return void res.end()
  // A client that disconnects needs no response.
  await pipeline(handle.createReadStream({ autoClose: false, end: size - 1 }), res).catch(() =>
    res.destroy(),
  )
}

/**
 * Whether the client has this version (RFC 9110 §13.1): the ETag takes precedence over the date.
 */
function isKnown(req: Request, etag: string, mtime: Date): boolean {
  const tags = req.headers['if-none-match']
  if (tags !== undefined) {
    return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
  }
  const since = Date.parse(req.headers['if-modified-since'] ?? '')
  return Math.floor(mtime.getTime() / 1_000) * 1_000 <= since
}

function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
