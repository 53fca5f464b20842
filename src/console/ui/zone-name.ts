/** Formats of time zone names. */

/** Shortens `UTC−05:00` to `UTC−5` and `UTC+05:30` to `UTC+5:30`. */
export const shortZone = (name: string): string => name.replace(/([+−])0(\d)/, '$1$2').replace(/:00$/, '');
