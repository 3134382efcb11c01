import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const views = path.join(import.meta.dirname, '../../../src/web/views')
const templates = globSync('**/*.eta', { cwd: views })

test('there are templates to check', () => {
  expect(templates.length).toBeGreaterThan(10)
})

test.for(templates)('%s prints nothing unescaped except other templates', (file) => {
  const text = readFileSync(path.join(views, file), 'utf8')
  const unescaped = text.match(/<%~(?!\s*(?:include\(|it\.body\s*%>))[^%]*/g)
  expect(unescaped).toBeNull()
})

test.for(templates)(
  '%s has no script but our own, no inline style and no event handler',
  (file) => {
    const text = readFileSync(path.join(views, file), 'utf8')
    const ownScript = /<script src="<%= it\.assets\.\w+ %>" defer><\/script>/g
    const rest = text.replaceAll(ownScript, '')
    expect(rest).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=|=\s*["']?javascript:/i)
  },
)
