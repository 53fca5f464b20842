import { listed } from '../envelopes.ts';
import {
  consistencyQuery,
  entriesQuery,
  inclusionQuery,
  leafQuery,
  publicPageQuery,
  treeHeadQuery,
  treeHeadsQuery,
} from '../parameters.ts';
import { uuid } from '../resources/fields.ts';
import {
  ConsistencyProof,
  InclusionProof,
  JsonWebKey,
  JsonWebKeySet,
  Leaf,
  ProofBundle,
  SignedTreeHead,
  treeHeadId,
} from '../resources/transparency.ts';
import { bytes, get, json, list, sharing } from './route.ts';

const entryReaders = ['auditor', 'analyst', 'admin'] as const;

/** The transparency log: tree heads, proofs, entries, tiles and keys. */
export const transparencyRoutes = sharing({ tag: 'transparency' })({
  getTreeHead: get('/api/transparency/sth', 'Get a signed tree head', {
    access: 'public',
    query: treeHeadQuery,
    responses: { 200: json(SignedTreeHead) },
    errors: ['LOG_EMPTY', 'NOT_FOUND'],
  }),
  getInclusionProof: get('/api/transparency/inclusion', 'Get an inclusion proof for a leaf', {
    access: 'public',
    query: inclusionQuery,
    responses: { 200: json(InclusionProof) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  }),
  getConsistencyProof: get('/api/transparency/consistency', 'Get a consistency proof between two tree sizes', {
    access: 'public',
    query: consistencyQuery,
    responses: { 200: json(ConsistencyProof) },
  }),
  getLeaf: get('/api/transparency/leaf', 'Get a log entry and its canonical bytes', {
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(Leaf) },
    errors: ['NOT_FOUND'],
  }),
  listTreeHeads: get('/api/transparency/sths', 'List signed tree heads, oldest first', {
    access: 'public',
    query: treeHeadsQuery,
    responses: { 200: list(listed('tree_head', treeHeadId, SignedTreeHead)) },
  }),
  listEntries: get('/api/transparency/entries', 'List log entries, oldest first; entries of kinds key.… are public', {
    access: entryReaders,
    partlyPublic: true,
    query: entriesQuery,
    responses: { 200: list(listed('log_entry', uuid('Identifier of the entry.'), Leaf)) },
  }),
  getProofBundle: get(
    '/api/transparency/proof',
    'Get a proof bundle that verifies offline that an entry is in the log',
    {
      access: entryReaders,
      partlyPublic: true,
      query: leafQuery,
      responses: { 200: json(ProofBundle) },
      errors: ['NOT_FOUND', 'LOG_EMPTY'],
    },
  ),
  getCheckpoint: get('/checkpoint', 'Get the latest checkpoint, a signed note (C2SP tlog-checkpoint)', {
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; charset=utf-8' } },
    errors: ['LOG_EMPTY'],
  }),
  getTile: get('/tile/:tile*', 'Get a tile of tree hashes (C2SP tlog-tiles)', {
    access: 'public',
    responses: { 200: bytes },
  }),
  getEntryBundle: get(
    '/tile/entries/:bundle*',
    'Get an entry bundle: canonical bytes of log entries (C2SP tlog-tiles)',
    { access: entryReaders, mayBePublic: true, responses: { 200: bytes } },
  ),
  listKeyHistory: get(
    '/api/transparency/key-history',
    'List log entries about keys (key.rotated, key.retired, key.revoked, log.life_started), oldest first',
    {
      access: 'public',
      query: publicPageQuery,
      responses: { 200: list(listed('log_entry', uuid('Identifier of the entry.'), Leaf)) },
    },
  ),
  listPublicKeys: get('/api/transparency/keys', 'List every public key ever used, oldest first', {
    access: 'public',
    query: publicPageQuery,
    responses: { 200: list(listed('public_key', uuid('Identifier (kid) of the key.'), JsonWebKey)) },
  }),
  getKeySet: get('/.well-known/jwks.json', 'Get the current public keys: active, pending and recently retired', {
    access: 'public',
    responses: { 200: json(JsonWebKeySet) },
  }),
});
