import type { Db } from './pool.ts'

/** A browser in which a reporter is signed in. Its id is never told: it would be the session. */
export type SignedInBrowser = {
  /** Names it on pages. */
  handle: string
  openedAt: Date
  seenAt: Date
  /** What the browser calls itself. */
  agent: string
}

/** The browsers a reporter is signed in with, the latest seen first. */
export async function listSessions(
  db: Db,
  reporterId: string,
  now: Date,
): Promise<SignedInBrowser[]> {
  const { rows } = await db.query<Record<keyof SignedInBrowser, string | null>>(
    `select sess ->> 'handle' as handle, sess ->> 'openedAt' as "openedAt",
       sess ->> 'seenAt' as "seenAt", sess ->> 'agent' as agent
     from sessions where reporter_id = $1 and expire >= $2`,
    [reporterId, now],
  )
  return rows
    .flatMap(({ handle, openedAt, seenAt, agent }) => {
      if (handle === null || openedAt === null) return []
      const opened = new Date(openedAt)
      return [
        { handle, openedAt: opened, seenAt: new Date(seenAt ?? openedAt), agent: agent ?? '' },
      ]
    })
    .toSorted((a, b) => b.seenAt.getTime() - a.seenAt.getTime())
}

/** Ends one session of a reporter; false when there is none of that name. */
export async function removeSession(db: Db, reporterId: string, handle: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from sessions where reporter_id = $1 and sess ->> 'handle' = $2`,
    [reporterId, handle],
  )
  return rowCount !== null && rowCount > 0
}

/** Ends all sessions of a reporter but one; all of them without it. Returns how many. */
export async function removeSessions(
  db: Db,
  reporterId: string,
  exceptHandle: string | undefined,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from sessions where reporter_id = $1
       and ($2::text is null or sess ->> 'handle' is distinct from $2)`,
    [reporterId, exceptHandle ?? null],
  )
  return rowCount ?? 0
}

/** Keeps what a session holds, if it has not been ended; when it ends by itself stays as it was. */
export async function updateSession(db: Db, id: string, content: object): Promise<void> {
  await db.query(`update sessions set sess = $2 where sid = $1`, [id, JSON.stringify(content)])
}
