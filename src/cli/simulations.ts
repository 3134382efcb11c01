import {
  addSimulation,
  dropSimulation,
  makeSimulationKey,
  readSimulations,
  stopSimulation,
} from '../reports/simulations.ts'
import { defineQuery, type Operations } from './command.ts'

const LISTED_MAX = 1_000

const list = defineQuery({
  name: 'simulations list',
  summary: 'show the simulated phishing with how many people reported it, as JSON lines',
  async print(_, { pool }) {
    const simulations = await readSimulations(pool, { before: undefined, limit: LISTED_MAX })
    return simulations.map((one) => `${JSON.stringify(one)}\n`).join('')
  },
})

const key = defineQuery({
  name: 'simulations key',
  summary: 'print a new key for a header field of simulated phishing; it is not stored',
  print: () => Promise.resolve(makeSimulationKey()),
  showsKey: true,
})

export const operations: Operations = [list, key, addSimulation, stopSimulation, dropSimulation]
