import { initialSettings, parseSettings, type Settings } from './settings.ts'

/** Reads the settings; those of the organization's policy take precedence. */
export async function readSettings(): Promise<{ settings: Settings; managed: readonly string[] }> {
  const { settings: own = {} } = await messenger.storage.local.get('settings')
  // Rejects if there is no policy for the add-on.
  const policy = await messenger.storage.managed.get().catch(() => ({}))
  const managed = parseSettings(policy)
  return {
    settings: { ...initialSettings, ...parseSettings(own), ...managed },
    managed: Object.keys(managed),
  }
}

/** Stores the settings of the user. */
export async function writeSettings(settings: Settings): Promise<void> {
  await messenger.storage.local.set({ settings })
}
