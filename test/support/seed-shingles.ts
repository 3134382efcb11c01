import { seedShingles } from '../../src/pieces/shingles/hash.ts'

/** Files of tests share their modules: one that opens an installation leaves its seed behind. */
seedShingles(0x7368696e676c6573n)
