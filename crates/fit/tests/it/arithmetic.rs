//! Least squares against optimality conditions, designs against determinants worked out in full.

use fit::{Matrix, gains, nnls};
use proptest::prelude::*;

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    let mut matrix = Matrix::new(rows[0].len());
    for row in rows {
        matrix.push(row.clone());
    }
    matrix
}

proptest! {
    /// Kuhn and Tucker: no coefficient is negative, the gradient is zero where one is positive, and where it is zero to
    /// raise it would make the sum of squares larger. A convex problem has no other solution.
    #[test]
    fn a_solution_is_optimal(
        values in prop::collection::vec(-10.0..10.0_f64, 8 * 5),
        right in prop::collection::vec(-10.0..10.0_f64, 8),
        copied in any::<bool>(),
    ) {
        let mut rows: Vec<Vec<f64>> = values.chunks(5).map(<[f64]>::to_vec).collect();
        if copied {
            // Two columns that are the same.
            for row in &mut rows {
                row[3] = row[1];
            }
        }
        let (x, left) = nnls(&matrix(&rows), &right);
        let residual: Vec<f64> =
            rows.iter().zip(&right).map(|(row, b)| b - row.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>()).collect();
        let length: f64 = residual.iter().map(|r| r * r).sum();
        let length = libm::sqrt(length);
        prop_assert!((length - left).abs() < 1e-9);
        for j in 0..5 {
            let gradient: f64 = rows.iter().zip(&residual).map(|(row, r)| row[j] * r).sum();
            prop_assert!(x[j] >= 0.0);
            prop_assert!(gradient < 1e-6, "column {j} would gain: {gradient}");
            prop_assert!(x[j] == 0.0 || gradient.abs() < 1e-6, "column {j}: {gradient}");
        }
    }
}

/// What is without noise and not negative comes out as it went in.
#[test]
fn known_rates_are_found_again() {
    let rows: Vec<Vec<f64>> =
        (0..9).map(|i| vec![1.0, f64::from(i), f64::from(i * i % 7), f64::from((3 * i) % 5)]).collect();
    let truth = [4.0, 0.0, 2.5, 0.125];
    let right: Vec<f64> = rows.iter().map(|row| row.iter().zip(truth).map(|(a, x)| a * x).sum()).collect();
    let (x, left) = nnls(&matrix(&rows), &right);
    for (found, truth) in x.iter().zip(truth) {
        assert!((found - truth).abs() < 1e-9, "{x:?}");
    }
    assert!(left < 1e-9);
}

/// The determinant by Leibniz' formula, over all permutations.
fn determinant(m: &[Vec<f64>]) -> f64 {
    fn rest(m: &[Vec<f64>], row: usize, free: &mut Vec<usize>) -> f64 {
        if row == m.len() {
            return 1.0;
        }
        let mut sum = 0.0;
        for place in 0..free.len() {
            let column = free.remove(place);
            let sign = if place % 2 == 0 { 1.0 } else { -1.0 };
            sum += sign * m[row][column] * rest(m, row + 1, free);
            free.insert(place, column);
        }
        sum
    }
    rest(m, 0, &mut (0..m.len()).collect())
}

fn information(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = rows[0].len();
    (0..n).map(|i| (0..n).map(|j| rows.iter().map(|row| row[i] * row[j]).sum()).collect()).collect()
}

/// The logarithm of the ratio of determinants with and without each candidate.
#[test]
fn the_gain_of_a_run_is_what_it_does_to_the_determinant() {
    let known = vec![vec![1.0, 2.0, 0.5], vec![1.0, 4.0, 3.0], vec![1.0, 8.0, 0.25], vec![1.0, 3.0, 9.0]];
    let candidates: Vec<Vec<f64>> = (1..12).map(|i| vec![1.0, f64::from(i), f64::from((5 * i) % 7) * 2.0]).collect();
    let before = determinant(&information(&known));
    let found = gains(&matrix(&known), &candidates);
    for (candidate, gain) in candidates.iter().zip(&found) {
        let with: Vec<Vec<f64>> = known.iter().cloned().chain([candidate.clone()]).collect();
        let expected = libm::log(determinant(&information(&with)) / before);
        assert!((gain - expected).abs() < 1e-4, "{candidate:?}: {gain} for {expected}");
    }
}

/// For a straight line over an interval the D-optimal design is known: half of the runs at either end (Fedorov 1972).
/// After one run at the low end the next belongs to the high end, and the one after that to the low end again.
#[test]
fn a_line_is_measured_at_its_ends() {
    let grid: Vec<Vec<f64>> = (0..=10).map(|i| vec![1.0, f64::from(i)]).collect();
    let best = |known: &[Vec<f64>]| {
        let gains = gains(&matrix(known), &grid);
        (0..grid.len()).max_by(|a, b| gains[*a].total_cmp(&gains[*b])).expect("a grid")
    };
    assert_eq!(best(&[grid[0].clone()]), 10);
    assert_eq!(best(&[grid[0].clone(), grid[10].clone(), grid[10].clone()]), 0);
}
