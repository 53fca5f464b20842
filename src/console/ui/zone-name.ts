/** Names of zones of time; pure. */

/** `UTC−05:00` as it is said: `UTC−5`; `UTC+05:30` as `UTC+5:30`. */
export const shortZone = (name: string): string => name.replace(/([+−])0(\d)/, '$1$2').replace(/:00$/, '');
