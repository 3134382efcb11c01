import Bowser from 'bowser'

/** What a browser calls itself, in plain words; undefined where it says nothing we know. */
export function deviceOf(agent: string): { browser: string; system: string } | undefined {
  if (agent === '') return undefined
  const { browser, os } = Bowser.parse(agent)
  if (browser.name === undefined || os.name === undefined) return undefined
  return { browser: browser.name, system: os.name }
}
