import { seedShingles } from '../../src/pieces/shingles/hash.ts'

/**
 * Sets a fixed seed, because test files share modules: the seed of an instance that one file opens
 * would also apply to the others.
 */
seedShingles(0x7368696e676c6573n)
