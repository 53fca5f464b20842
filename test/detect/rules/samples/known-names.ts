import { asked, dns, type Samples } from '../records.ts';

const killSwitch = 'iuqerfsodp9ifjaposdfjhgosurijfaewrwergwea.com';

export default {
  'Name by which WannaCry asks whether to stop': {
    matches: [...asked(killSwitch), ...asked(`www.${killSwitch}`)],
    spares: [...asked(`${killSwitch}.example`), ...asked('example.com')],
  },
  'Name that was taken away from criminals': {
    matches: [
      [dns({ query: 'a.example', answers: ['sinkhole.cert.example', '198.18.0.1'], TTLs: [60, 60] })],
      [dns({ query: 'a.example', answers: ['one.sinkhole.example'], TTLs: [60] })],
    ],
    spares: [
      [dns({ query: 'sinkhole.example', answers: ['198.18.0.1'], TTLs: [60] })],
      ...asked('a.example'),
    ],
  },
  'Name that tests detection': {
    matches: [...asked('detection-test.candor.invalid'), ...asked('testmynids.org')],
    spares: [...asked('candor.invalid'), ...asked('test.example')],
  },
} satisfies Samples;
