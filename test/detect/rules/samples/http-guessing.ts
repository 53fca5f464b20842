import { eve, type Line, type Samples, times, zeek } from '../records.ts';

const basic = (n: number, more: Line = {}) =>
  zeek('http', { method: 'GET', uri: '/', status_code: 401, username: 'admin', ...more }, n);
const form = (n: number, more: Line = {}) =>
  zeek('http', { method: 'POST', uri: '/login', status_code: 403, ...more }, n);
const eveForm = (n: number, more: Line = {}) =>
  eve('http', { http: { http_method: 'POST', url: '/login', status: 401, ...more } }, n);

export default {
  'HTTP Basic login failed': {
    matches: [[basic(0)]],
    spares: [[basic(0, { status_code: 200 })], [zeek('http', { status_code: 401 })]],
  },
  'HTTP Basic brute force': {
    matches: [times(20, (n) => basic(n))],
    spares: [
      times(19, (n) => basic(n)),
      times(60, (n) => basic(n * 30)),
      times(60, (n) => basic(n, { username: undefined })),
    ],
  },
  'HTTP POST rejected (401 or 403)': {
    matches: [[form(0)], [form(0, { status_code: 401 })], [eveForm(0)]],
    spares: [[form(0, { method: 'GET' })], [form(0, { status_code: 200 })], [eveForm(0, { http_method: 'PUT' })]],
  },
  'Web login form brute force': {
    matches: [times(30, (n) => form(n)), times(30, (n) => eveForm(n))],
    spares: [times(29, (n) => form(n)), times(60, (n) => form(n, { uri: `/${n}` })), times(60, (n) => form(n * 20))],
  },
} satisfies Samples;
