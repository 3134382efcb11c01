import type { App } from '../app.ts'
import { serve } from '../http/serve.ts'

/** Takes reports and shows pages, from when it resolves until it is closed. */
export async function web(app: App): Promise<{ close(): Promise<void>; url: string }> {
  const served = await serve(app)
  app.log.info({ url: served.url }, 'Listening.')
  return served
}
