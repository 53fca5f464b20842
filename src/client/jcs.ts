export { jcs } from '../contract/jcs.ts';
