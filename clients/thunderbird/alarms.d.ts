/** The part of the alarms API that the add-on uses; the package of types does not have it. */
declare namespace messenger.alarms {
  function create(name: string, info: { when: number }): Promise<void>
  function clear(name: string): Promise<boolean>
  const onAlarm: { addListener: (listener: () => unknown) => void }
}
