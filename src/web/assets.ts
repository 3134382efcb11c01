import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Router } from 'express'
import { createFixedContent } from './compress.ts'

type Asset = { url: string; type: string; content: Buffer }

const own = path.join(import.meta.dirname, 'views', 'public')

const assets = {
  pico: style('pico.css', 'pico/pico.min.css'),
  site: style('site.css'),
  frame: style('frame.css'),
  parts: style('parts.css'),
  home: style('home.css'),
  story: style('story.css'),
  walk: style('walk.css'),
  docs: style('docs.css'),
  graphs: style('graphs.css'),
  board: style('board.css'),
  deskStyle: style('desk.css'),
  desk: script('desk.js'),
  editor: script('editor.js'),
  uploadStyle: style('upload.css'),
  upload: script('upload.js'),
  live: script('live.js'),
  times: script('times.js'),
  graph: script('graph.js'),
  copy: script('copy.js'),
  icon: asset('icon.svg', 'image/svg+xml'),
}

/** The URLs of the style sheets, the scripts and the icon; they change with the content. */
export const assetUrls = Object.fromEntries(
  Object.entries(assets).map(([key, { url }]) => [key, url]),
) as Readonly<Record<keyof typeof assets, string>>

/** Serves the assets from memory, with permanent caching by browsers. */
export function assetRoutes(): Router {
  const router = Router()
  for (const { url, type, content } of Object.values(assets)) {
    const end = createFixedContent(content)
    router.get(url, async (req, res) => {
      res.setHeader('content-type', type)
      res.setHeader('cache-control', 'public, max-age=31536000, immutable')
      await end(req, res)
    })
  }
  return router
}

function style(name: string, file = name): Asset {
  return asset(name, 'text/css; charset=utf-8', file)
}

function script(name: string): Asset {
  return asset(name, 'text/javascript; charset=utf-8')
}

/** Reads a file of the site's own. */
function asset(name: string, type: string, file = name): Asset {
  const content = readFileSync(path.join(own, file))
  const version = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return { url: `/assets/${version}/${name}`, type, content }
}
