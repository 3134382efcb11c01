import '../support/seed-shingles.ts'

// With more reports, reporters have several in a campaign, and each correction a site of its own.
process.env['UNDO_REPORTS'] = '60'
await import('../db/search/undo-mass-action.test.ts')
