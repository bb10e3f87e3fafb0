// Functions as a recording calls them ("Sorter::merge(List&, int) const [clone .constprop.0]") and as they stand in a
// text ("merge").

/** What the compilers call the body of a parallel region of OpenMP: ".omp_outlined..3", "relax.omp_outlined", "relax._omp_fn.0". */
const parallelRegion = /^(.*?)(?: \[clone )?\.(?:omp_outlined|_omp_fn)/;

/** The debug information's lambdas go by their line, "main::{lambda:93}", those of symbols by their place in the function. */
const lambda = /^(?:(.*)::)?\{lambda(?::(\d+)|\([^{}]*\)#(\d+))\}(?:::operator\(\)\(.*)?$/;

/** A function as a row of a list: CPU time of which nothing is known has none. */
export function functionTitle(name: string): string {
  return name === '' ? 'function not known' : shortName(name);
}

/** The last part of a function's name: without scope, template arguments, parameters and what the compiler added. */
export function shortName(name: string): string {
  const region = parallelRegion.exec(name);
  if (region !== null) {
    return region[1] === '' ? 'parallel region' : `parallel region of ${shortName(region[1] ?? '')}`;
  }
  const [isLambda, scope, line, place] = lambda.exec(name) ?? [];
  if (isLambda !== undefined) {
    const whose = scope === undefined ? 'lambda' : `${shortName(scope)}'s lambda`;
    return line === undefined ? `${whose} #${place}` : `${whose} (line ${line})`;
  }
  const operator = /\boperator\s*(\(\)|\[\]|[^\w\s(]+)/.exec(name);
  if (operator !== null) {
    return `operator${operator[1]}`;
  }
  let rest = name
    .replace(/\[(clone|abi:)[^\]]*\]/g, '')
    .replace(/\.(constprop|isra|part|cold|lto_priv)\b.*$/, '')
    .replaceAll('(anonymous namespace)', 'anonymous');
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replace(/<[^<>]*>|\([^()]*\)/g, '');
  }
  const words = rest.replace(/(\s(const|volatile|&|&&))+\s*$/, '').trim().split(/::|\s+/);
  const last = words.at(-1) ?? '';
  return last === '' ? name : last;
}
