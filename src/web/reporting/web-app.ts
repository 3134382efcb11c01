import { Router } from 'express'
import { assetUrls } from '../assets.ts'

/**
 * The description of the web app, for telephones that install it (W3C Web Application Manifest).
 * An installed app appears among the targets of "Share", and receives files in the form below.
 */
export function webAppRoutes(): Router {
  const router = Router()
  const manifest = JSON.stringify({
    id: '/report',
    name: 'Signalpost',
    short_name: 'Signalpost',
    start_url: '/report',
    scope: '/',
    display: 'minimal-ui',
    background_color: '#ffffff',
    theme_color: '#0b6b5d',
    icons: [{ src: assetUrls.icon, type: 'image/svg+xml', sizes: 'any' }],
    share_target: {
      action: '/report/share',
      method: 'POST',
      enctype: 'multipart/form-data',
      params: {
        text: 'text',
        files: [
          {
            name: 'messages',
            accept: ['message/rfc822', 'application/octet-stream', '.eml', '.msg', '.mbox'],
          },
        ],
      },
    },
  })
  router.get('/manifest.webmanifest', (_req, res) => {
    res.setHeader('content-type', 'application/manifest+json')
    res.setHeader('cache-control', 'public, max-age=86400')
    res.end(manifest)
  })
  return router
}
