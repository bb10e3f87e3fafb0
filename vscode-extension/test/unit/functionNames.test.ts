import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionTitle, shortName } from '../../src/core/functionNames';

void test('the name as it stands in the text', () => {
  const names: [string, string][] = [
    ['merge', 'merge'],
    ['Sorter::merge(List&, std::vector<int, std::allocator<int> > const&)', 'merge'],
    ['Sorter::size() const', 'size'],
    ['void sort<int*, std::less<int> >(int*, int*, std::less<int>)', 'sort'],
    ['(anonymous namespace)::helper(int)', 'helper'],
    ['merge [clone .constprop.0]', 'merge'],
    ['merge.constprop.0', 'merge'],
    ['std::string f[abi:cxx11](int)', 'f'],
    ['Matrix<3, 3>::~Matrix()', '~Matrix'],
    ['List::operator[](unsigned long)', 'operator[]'],
    ['operator<<(std::ostream&, List const&)', 'operator<<'],
    ['main::{lambda(int)#1}::operator()(int) const', "main's lambda #1"],
    ['Queue::put(Order)::{lambda()#2}::operator()() const', "put's lambda #2"],
    ['main::{lambda:93}', "main's lambda (line 93)"],
    ['ns::run(int)::{lambda:93}::{lambda:95}', "run's lambda (line 93)'s lambda (line 95)"],
    ['{lambda:4}', 'lambda (line 4)'],
    ['Comparator::operator()(int, int) const', 'operator()'],
    ['.omp_outlined..3', 'parallel region'],
    ['.omp_outlined._debug__', 'parallel region'],
    ['relax.omp_outlined_debug__', 'parallel region of relax'],
    ['relax._omp_fn.0', 'parallel region of relax'],
    ['Plate::relax(double*, int) [clone .omp_outlined]', 'parallel region of relax'],
    ['', ''],
    ['(function unknown)', '(function unknown)'],
  ];
  for (const [name, short] of names) {
    assert.equal(shortName(name), short, name);
  }
});

void test('a row for what has no name says so', () => {
  assert.equal(functionTitle(''), 'function not known');
  assert.equal(functionTitle('ns::f(int)'), 'f');
});
