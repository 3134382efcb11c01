import { defineQueue, refreshNetworksName } from '../queue/define-queue.ts'

export const makeBackup = defineQueue({
  name: 'make-backup',
  attempts: { retryLimit: 1, retryDelay: 600, retryDelayMax: 600, expireInSeconds: 86_400 },
  cron: '43 * * * *',
})

/** Imports the tables of NETWORK_TABLES again, every night. */
export const refreshNetworks = defineQueue({
  name: refreshNetworksName,
  attempts: { retryLimit: 1, retryDelay: 3_600, retryDelayMax: 3_600, expireInSeconds: 7_200 },
  cron: '21 3 * * *',
})

/** Trains a model from the reports, every night. */
export const trainModel = defineQueue({
  name: 'train-model',
  attempts: { retryLimit: 1, retryDelay: 600, retryDelayMax: 600, expireInSeconds: 7_200 },
  cron: '37 2 * * *',
})
