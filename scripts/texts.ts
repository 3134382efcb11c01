import { faultsIn, readTexts } from './texts/faults.ts'

/**
 * `npm run texts`: lists what the French and Russian texts lack: missing texts, which are shown in
 * English, and faults of style. Only the release refuses them.
 */
const faults = faultsIn(readTexts())
console.log([...faults, `${faults.length} faults in the translations.`].join('\n'))
