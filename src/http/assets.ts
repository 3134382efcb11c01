import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { Router } from 'express'

type Asset = { url: string; type: string; content: Buffer }

const own = path.join(import.meta.dirname, 'views', 'public')
const pico = createRequire(import.meta.url).resolve('@picocss/pico/css/pico.min.css')

const assets = {
  pico: asset(pico, 'pico.css', 'text/css; charset=utf-8'),
  site: asset(path.join(own, 'site.css'), 'site.css', 'text/css; charset=utf-8'),
  frame: asset(path.join(own, 'frame.css'), 'frame.css', 'text/css; charset=utf-8'),
  home: asset(path.join(own, 'home.css'), 'home.css', 'text/css; charset=utf-8'),
  story: asset(path.join(own, 'story.css'), 'story.css', 'text/css; charset=utf-8'),
  walk: asset(path.join(own, 'walk.css'), 'walk.css', 'text/css; charset=utf-8'),
  docs: asset(path.join(own, 'docs.css'), 'docs.css', 'text/css; charset=utf-8'),
  series: asset(path.join(own, 'series.css'), 'series.css', 'text/css; charset=utf-8'),
  uploadStyle: asset(path.join(own, 'upload.css'), 'upload.css', 'text/css; charset=utf-8'),
  upload: asset(path.join(own, 'upload.js'), 'upload.js', 'text/javascript; charset=utf-8'),
  icon: asset(path.join(own, 'icon.svg'), 'icon.svg', 'image/svg+xml'),
}

/** Where the style sheets and the icon are. The address changes with the content. */
export const assetUrls = {
  pico: assets.pico.url,
  site: assets.site.url,
  frame: assets.frame.url,
  home: assets.home.url,
  story: assets.story.url,
  walk: assets.walk.url,
  docs: assets.docs.url,
  series: assets.series.url,
  uploadStyle: assets.uploadStyle.url,
  upload: assets.upload.url,
  icon: assets.icon.url,
}

/** Serves them from memory, to be kept by browsers for good. */
export function assetRoutes(): Router {
  const router = Router()
  for (const { url, type, content } of Object.values(assets)) {
    router.get(url, (_req, res) => {
      res.setHeader('content-type', type)
      res.setHeader('cache-control', 'public, max-age=31536000, immutable')
      res.end(content)
    })
  }
  return router
}

function asset(file: string, name: string, type: string): Asset {
  const content = readFileSync(file)
  const version = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return { url: `/assets/${version}/${name}`, type, content }
}
