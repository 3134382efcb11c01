import { seedShingles } from '../../src/pieces/shingles/hash.ts'

/** Test files share modules, so an instance opened by one leaves its seed to the others. */
seedShingles(0x7368696e676c6573n)
