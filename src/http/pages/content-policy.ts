const directives = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** What a page may load: nothing from elsewhere, and no script. */
export const contentPolicy = directives.join('; ')

/** The same for a page that works without scripts and is helped by one of ours. */
export const scriptedContentPolicy = [
  ...directives,
  "script-src 'self'",
  "connect-src 'self'",
].join('; ')
