import { type Access, parseServer } from './service.ts'

/** The settings of the add-on. */
export type Settings = Access & {
  /** Whether reported messages move to the Junk folder. */
  movesToJunk: boolean
  /** Whether marking a message as Junk reports it. */
  reportsJunk: boolean
}

/** The settings of a new user; the build replaces the address. */
export const initialSettings: Settings = {
  server: '{server}',
  token: '',
  movesToJunk: true,
  reportsJunk: false,
}

/** Returns the valid settings in a value. */
export function parseSettings(value: unknown): Partial<Settings> {
  if (value === null || typeof value !== 'object') return {}
  const given = value as Record<string, unknown>
  const { token, movesToJunk, reportsJunk } = given
  const server = typeof given['server'] === 'string' ? parseServer(given['server']) : undefined
  return {
    ...(server !== undefined && { server }),
    ...(typeof token === 'string' && { token: token.trim() }),
    ...(typeof movesToJunk === 'boolean' && { movesToJunk }),
    ...(typeof reportsJunk === 'boolean' && { reportsJunk }),
  }
}
